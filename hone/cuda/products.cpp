#include "hone/cuda/products.h"

#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "hone/base/error.h"
#include "hone/cuda/heuristic.h"
#include "hone/cuda/launch.h"
#include "hone/cuda/shared_library.h"

namespace hone::cuda {
namespace {

// Declared as in cublasLt.h. Functions return 0 on success.
using Handle = struct LightHandleRecord*;
using Description = struct DescriptionRecord*;
using LayoutHandle = struct LayoutRecord*;
using Preference = struct PreferenceRecord*;

enum DescriptionAttribute {
  kTransposeA = 3,
  kTransposeB = 4,
  kEpilogue = 7,
  kBias = 8,
  kBiasType = 26
};
enum LayoutAttribute { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute { kWorkspaceBytes = 1, kAlignmentA = 5 };
constexpr int kCompute32F = 68, kCompute32I = 72, kComputeTf32 = 77;
constexpr int kType32F = 0, kType8I = 3, kType32I = 10;
constexpr int kReluBit = 2, kBiasBit = 4, kGeluBit = 32, kPlain = 1;
// The most that kernels for Hopper ask for.
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

struct Library {
  int (*create)(Handle*);
  int (*describe)(Description*, int compute, int scale);
  int (*description_set)(Description, int, const void*, std::size_t);
  int (*layout)(LayoutHandle*, int type, std::uint64_t rows, std::uint64_t columns,
                std::int64_t leading);
  int (*layout_set)(LayoutHandle, int, const void*, std::size_t);
  int (*prefer)(Preference*);
  int (*preference_set)(Preference, int, const void*, std::size_t);
  int (*choose)(Handle, Description, LayoutHandle, LayoutHandle, LayoutHandle, LayoutHandle,
                Preference, int wanted, Heuristic*, int* found);
  int (*multiply)(Handle, Description, const void* alpha, const void* a, LayoutHandle,
                  const void* b, LayoutHandle, const void* beta, const void* c, LayoutHandle,
                  void* d, LayoutHandle, const Algorithm*, void* workspace, std::size_t,
                  StreamHandle);
};

struct LoadedLibrary {
  Library functions = {};
  std::string missing;

  LoadedLibrary() {
    Library& f = functions;
    const char* const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    const Symbol symbols[] = {{"cublasLtCreate", &f.create},
                              {"cublasLtMatmulDescCreate", &f.describe},
                              {"cublasLtMatmulDescSetAttribute", &f.description_set},
                              {"cublasLtMatrixLayoutCreate", &f.layout},
                              {"cublasLtMatrixLayoutSetAttribute", &f.layout_set},
                              {"cublasLtMatmulPreferenceCreate", &f.prefer},
                              {"cublasLtMatmulPreferenceSetAttribute", &f.preference_set},
                              {"cublasLtMatmulAlgoGetHeuristic", &f.choose},
                              {"cublasLtMatmul", &f.multiply}};
    missing = load_library(names, symbols);
  }
};

const LoadedLibrary& loaded_library() {
  static const LoadedLibrary library;
  return library;
}

const Library& library() {
  user_check(loaded_library().missing.empty(),
             "products on the GPU need cuBLAS: {}; install it of CUDA 12 or 13",
             loaded_library().missing);
  return loaded_library().functions;
}

void check_product(int result, const char* tried) {
  user_check(result == 0, "cuBLASLt failed at {} (status {})", tried, result);
}

int cuda_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return kType32F;
    case DType::f16:
      return 2;
    case DType::bf16:
      return 14;
    default:
      HONE_ASSERT(false, "no products of {}", info(dtype).name);
  }
}

bool is_of_bytes(const Product& p) { return p.numbers == Numbers::bytes; }
int operand_type(const Product& p) { return is_of_bytes(p) ? kType8I : cuda_type(p.type); }
int result_type(const Product& p) { return is_of_bytes(p) ? kType32I : cuda_type(p.type); }

template <typename T>
void set(int (*setter)(Description, int, const void*, std::size_t), Description description,
         int fact, T value) {
  check_product(setter(description, fact, &value, sizeof value), "describing a product");
}

/// All that the choice of a kernel for a product depends on.
using Key = std::array<std::int64_t, 20>;

// Returns the alignment in bytes, at most 256. Kernels for badly aligned operands differ.
std::int64_t alignment(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  for (std::int64_t bytes = 256; bytes > 1; bytes /= 2)
    if (address % static_cast<std::uintptr_t>(bytes) == 0) return bytes;
  return 1;
}

// cuBLASLt matrices are column-major, so it is given the transposes: result^T = b^T a^T.
struct Plan {
  Description description = nullptr;
  LayoutHandle first = nullptr, second = nullptr, result = nullptr;
  Algorithm algorithm = {};
};

/// Returns the layout of the column-major matrix in memory: (columns, rows) if the column stride is 1, else (rows,
/// columns).
LayoutHandle layout_of(const Matrix& matrix, std::int64_t rows, std::int64_t columns, int type,
                       std::int64_t batch) {
  const bool by_rows = matrix.column_stride == 1;
  LayoutHandle layout = nullptr;
  const std::int64_t fast = by_rows ? columns : rows, slow = by_rows ? rows : columns;
  // The stride of a single row or column can have any value.
  const std::int64_t leading = std::max(by_rows ? matrix.row_stride : matrix.column_stride, fast);
  check_product(library().layout(&layout, type, static_cast<std::uint64_t>(fast),
                                 static_cast<std::uint64_t>(slow), leading),
                "describing a matrix");
  const auto count = static_cast<std::int32_t>(batch);
  if (batch > 1) {
    library().layout_set(layout, kBatchCount, &count, sizeof count);
    library().layout_set(layout, kBatchStride, &matrix.batch_stride, sizeof matrix.batch_stride);
  }
  return layout;
}

/// The state of cuBLASLt on one GPU.
class Engine {
 public:
  explicit Engine(CudaDevice& device) : device_(device) {
    device.enter();
    check_product(library().create(&handle_), "starting");
    workspace_ = device.allocate(kWorkspace);
  }

  void multiply(const Product& p) {
    device_.enter();
    const std::scoped_lock lock(mutex_);
    const Plan& plan = plan_for(p);
    if (p.bias != nullptr) set(library().description_set, plan.description, kBias, p.bias);
    // Alpha and beta have the type of the sums.
    const float one = 1, zero = 0;
    const std::int32_t whole_one = 1, whole_zero = 0;
    const bool bytes = is_of_bytes(p);
    const void *const once = bytes ? static_cast<const void*>(&whole_one) : &one,
                      *const nothing = bytes ? static_cast<const void*>(&whole_zero) : &zero;
    check_product(library().multiply(handle_, plan.description, once, p.b.data, plan.first,
                                     p.a.data, plan.second, p.residual != nullptr ? once : nothing,
                                     p.residual != nullptr ? p.residual : p.result, plan.result,
                                     p.result, plan.result, &plan.algorithm, workspace_->pointer,
                                     kWorkspace, device_.stream()),
                  "multiplying");
  }

 private:
  const Plan& plan_for(const Product& p) {
    const Key key = {
        p.rows,
        p.columns,
        p.inner,
        p.batch,
        static_cast<std::int64_t>(p.numbers),
        static_cast<std::int64_t>(p.type),
        p.a.row_stride,
        p.a.column_stride,
        p.a.batch_stride,
        p.b.row_stride,
        p.b.column_stride,
        p.b.batch_stride,
        p.result_batch_stride,
        p.bias != nullptr ? 1 : 0,
        p.residual != nullptr ? 1 : 0,
        static_cast<std::int64_t>(p.activation),
        static_cast<std::int64_t>(device_.arithmetic()),
        alignment(p.a.data),
        alignment(p.b.data),
        std::min(alignment(p.result), p.residual != nullptr ? alignment(p.residual) : 256)};
    const auto [entry, is_new] = plans_.try_emplace(key);
    if (is_new) {
      try {
        entry->second = plan(p);
      } catch (...) {
        plans_.erase(entry);
        throw;
      }
    }
    return entry->second;
  }

  Plan plan(const Product& p) {
    Plan made;
    const bool rounds = p.type == DType::f32 && device_.arithmetic() == Arithmetic::tf32;
    const int compute = is_of_bytes(p) ? kCompute32I : rounds ? kComputeTf32 : kCompute32F;
    check_product(
        library().describe(&made.description, compute, is_of_bytes(p) ? kType32I : kType32F),
        "describing a product");
    // A row-major matrix already is the transpose of a column-major one.
    set(library().description_set, made.description, kTransposeA,
        std::int32_t{p.b.column_stride == 1 ? 0 : 1});
    set(library().description_set, made.description, kTransposeB,
        std::int32_t{p.a.column_stride == 1 ? 0 : 1});
    int epilogue = p.bias != nullptr ? kBiasBit : 0;
    if (p.activation == FusedActivation::relu) epilogue |= kReluBit;
    if (p.activation == FusedActivation::gelu_tanh) epilogue |= kGeluBit;
    set(library().description_set, made.description, kEpilogue,
        std::int32_t{epilogue == 0 ? kPlain : epilogue});
    if (p.bias != nullptr) {
      set(library().description_set, made.description, kBias, p.bias);
      set(library().description_set, made.description, kBiasType, std::int32_t{cuda_type(p.type)});
    }
    made.first = layout_of(p.b, p.inner, p.columns, operand_type(p), p.batch);
    made.second = layout_of(p.a, p.rows, p.inner, operand_type(p), p.batch);
    made.result = layout_of({p.result, p.columns, 1, p.result_batch_stride}, p.rows, p.columns,
                            result_type(p), p.batch);
    made.algorithm = choice(p, made);
    return made;
  }

  Algorithm choice(const Product& p, const Plan& made) {
    Preference preference = nullptr;
    check_product(library().prefer(&preference), "choosing a kernel");
    const std::size_t workspace = kWorkspace;
    library().preference_set(preference, kWorkspaceBytes, &workspace, sizeof workspace);
    const std::int64_t result =
        std::min(alignment(p.result), p.residual != nullptr ? alignment(p.residual) : 256);
    int fact = kAlignmentA;
    for (const std::int64_t bytes : {alignment(p.b.data), alignment(p.a.data), result, result}) {
      const auto value = static_cast<std::uint32_t>(bytes);
      library().preference_set(preference, fact++, &value, sizeof value);
    }
    Heuristic best = {};
    int found = 0;
    const int result_code =
        library().choose(handle_, made.description, made.first, made.second, made.result,
                         made.result, preference, 1, &best, &found);
    user_check(
        result_code == 0 && found > 0,
        "cuBLASLt has no kernel for a product of {} ({}, {}) and ({}, {}), {} times (status {})",
        is_of_bytes(p) ? "bytes" : info(p.type).name, p.rows, p.inner, p.inner, p.columns, p.batch,
        result_code);
    return best.algorithm;
  }

  CudaDevice& device_;
  Handle handle_ = nullptr;
  StoragePointer workspace_;
  std::mutex mutex_;
  std::map<Key, Plan> plans_;
};

// Lives until the process ends, like the devices.
Engine& engine_of(CudaDevice& device) {
  static std::mutex mutex;
  static auto& engines = *new std::map<int, Engine>();
  const std::scoped_lock lock(mutex);
  return engines.try_emplace(device.index(), device).first->second;
}

}  // namespace

std::string products_missing() { return loaded_library().missing; }

void multiply(CudaDevice& device, const Product& product) {
  if (product.rows == 0 || product.columns == 0 || product.batch == 0) return;
  HONE_ASSERT(product.inner > 0, "a product of nothing");
  HONE_ASSERT(product.residual == nullptr || product.activation == FusedActivation::none,
              "a residual after an activation");
  engine_of(device).multiply(product);
}

void linear_product(Device& device, std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                    const float* x, const float* weight, const float* bias, float* y) {
  multiply(device_of(device), {.rows = rows,
                               .columns = outputs,
                               .inner = inputs,
                               .a = {x, inputs, 1},
                               .b = {weight, 1, inputs},
                               .bias = bias,
                               .result = y});
}

}  // namespace hone::cuda
