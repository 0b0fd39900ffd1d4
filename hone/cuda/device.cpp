#include "hone/cuda/device.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/cuda/copy.h"

namespace hone::cuda {
namespace {

constexpr int kOldestMajor = 8;  // asynchronous copies and bfloat16 in the tensor cores
constexpr unsigned kNonBlocking = 1;
constexpr unsigned kWithoutTiming = 2;
// CU_MEMPOOL_ATTR_...
constexpr int kReleaseThreshold = 4, kReservedNow = 5, kUsedNow = 7, kUsedMost = 8;

int device_attribute(DeviceNumber number, DeviceAttribute which) {
  int value = 0;
  check(driver().device_attribute(&value, which, number), "querying an attribute");
  return value;
}

GpuInfo info_of(DeviceNumber number) {
  GpuInfo gpu;
  std::array<char, 256> name{};
  check(driver().device_name(name.data(), static_cast<int>(name.size()), number),
        "querying the name");
  gpu.name = name.data();
  gpu.major = device_attribute(number, DeviceAttribute::major);
  gpu.minor = device_attribute(number, DeviceAttribute::minor);
  gpu.multiprocessors = device_attribute(number, DeviceAttribute::multiprocessors);
  gpu.cache_bytes =
      static_cast<std::size_t>(device_attribute(number, DeviceAttribute::cache_bytes));
  gpu.shared_bytes_per_block =
      device_attribute(number, DeviceAttribute::max_shared_bytes_per_block);
  check(driver().device_memory(&gpu.memory_bytes, number), "querying the memory size");
  return gpu;
}

DeviceNumber number_of(int index) {
  DeviceNumber number = 0;
  check(driver().device_get(&number, index), "opening the GPU");
  return number;
}

/// Pinned host memory. Uploads are copied there piece by piece, so the caller need not wait until the GPU has read
/// them.
class Staging {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
  static constexpr std::size_t kPieces = 4;

  void upload(StreamHandle stream, Address to, std::span<const std::byte> from) {
    while (!from.empty()) {
      Piece& piece = pieces_[next_];
      next_ = (next_ + 1) % kPieces;
      make_ready(piece);
      const std::size_t size = std::min(kPieceBytes, from.size());
      std::memcpy(piece.memory, from.data(), size);
      check(driver().upload(to, piece.memory, size, stream), "uploading");
      check(driver().event_record(piece.read, stream), "uploading");
      from = from.subspan(size);
      to += size;
    }
  }

 private:
  struct Piece {
    void* memory = nullptr;
    EventHandle read = nullptr;  // recorded after the GPU's read
  };

  static void make_ready(Piece& piece) {
    if (piece.memory != nullptr) return check(driver().event_wait(piece.read), "uploading");
    check(driver().allocate_host(&piece.memory, kPieceBytes), "allocating memory for uploads");
    check(driver().event_create(&piece.read, kWithoutTiming), "creating an event");
  }

  std::array<Piece, kPieces> pieces_ = {};
  std::size_t next_ = 0;
};

class OpenedGpu final : public CudaDevice {
 public:
  explicit OpenedGpu(int index)
      : index_(index), number_(number_of(index)), info_(info_of(number_)) {
    user_check(info_.major >= kOldestMajor,
               "{} ({}) has compute capability {}.{}; hone's kernels need {}.0: omit --device to "
               "run on the CPU",
               to_string(*this), info_.name, info_.major, info_.minor, kOldestMajor);
    user_check(device_attribute(number_, DeviceAttribute::memory_pools) != 0,
               "{} ({}) cannot allocate in stream order, which hone needs: omit --device to run on "
               "the CPU",
               to_string(*this), info_.name);
    architecture_ = fmt::format("sm_{}{}{}", info_.major, info_.minor, info_.major >= 9 ? "a" : "");
    check(driver().retain_context(&context_, number_), "opening the GPU");
    enter();
    check(driver().stream_create(&stream_, kNonBlocking), "creating a stream");
    check(driver().default_pool(&pool_, number_), "opening its memory");
    unsigned long long keep_all = ~0ULL;
    check(driver().pool_set(pool_, kReleaseThreshold, &keep_all), "opening its memory");
  }

  std::string_view kind() const override { return "cuda"; }
  int index() const override { return index_; }
  std::string description() const override {
    return fmt::format("{}, products of fp32 in {}", info_.name, cuda::to_string(arithmetic_));
  }
  bool host_accessible() const override { return false; }
  const GpuInfo& info() const override { return info_; }
  const std::string& architecture() const override { return architecture_; }
  StreamHandle stream() override { return stream_; }
  void enter() override { check(driver().set_context(context_), "entering the GPU's context"); }

  Arithmetic arithmetic() const override { return arithmetic_; }
  void set_arithmetic(Arithmetic arithmetic) override { arithmetic_ = arithmetic; }

  std::optional<std::size_t> free_bytes() override {
    enter();
    std::size_t free = 0, total = 0;
    check(driver().memory_info(&free, &total), "querying free memory");
    // Memory that tensors freed stays in the pool for the next ones.
    return free + of_pool(kReservedNow) - of_pool(kUsedNow);
  }
  std::size_t held_bytes() override {
    wait();
    return of_pool(kUsedNow);
  }
  std::size_t peak_held_bytes() override {
    wait();
    return std::max(of_pool(kUsedMost), of_pool(kUsedNow));
  }
  void reset_peak_held() override {
    wait();
    unsigned long long none = 0;  // resets it to what is held now
    check(driver().pool_set(pool_, kUsedMost, &none), "watching its memory");
  }

  void begin_capture() override {
    constexpr int kThreadLocal = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    enter();
    check(driver().capture_begin(stream_, kThreadLocal), "capturing a run");
    captures_ = true;
  }
  GraphRunHandle end_capture() override {
    captures_ = false;
    GraphHandle graph = nullptr;
    GraphRunHandle run = nullptr;
    if (driver().capture_end(stream_, &graph) != 0 || graph == nullptr) return nullptr;
    if (driver().graph_instantiate(&run, graph, 0) != 0) run = nullptr;
    driver().graph_destroy(graph);
    return run;
  }

  StoragePointer allocate(std::size_t size_bytes) override {
    // A captured run would allocate anew at each launch.
    user_check(!captures_, "memory was asked for in a run that is captured");
    enter();
    Address address = 0;
    const Result result =
        driver().allocate(&address, std::max<std::size_t>(1, size_bytes), stream_);
    if (result == kOutOfMemory)
      fail(
          "not enough memory on {}: {} more were needed, {} of {} are free; use a smaller batch or "
          "model",
          to_string(*this), human_bytes(static_cast<double>(size_bytes)),
          human_bytes(static_cast<double>(free_bytes().value_or(0))),
          human_bytes(static_cast<double>(info_.memory_bytes)));
    check(result, "allocating");
    return {new Storage{this, pointer_of(address), size_bytes}, [this](Storage* storage) {
              // Errors are ignored: a lost GPU takes its memory with it.
              driver().set_context(context_);
              driver().free(address_of(storage->pointer), stream_);
              delete storage;
            }};
  }

  void upload(std::byte* to, std::span<const std::byte> from) override {
    enter();
    staging_.upload(stream_, address_of(to), from);
  }
  void download(std::span<std::byte> to, const std::byte* from) override {
    enter();
    if (!to.empty())
      check(driver().download(to.data(), address_of(from), to.size(), stream_), "downloading");
    wait();
  }
  void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) override {
    enter();
    if (size_bytes > 0)
      check(driver().copy(address_of(to), address_of(from), size_bytes, stream_), "copying");
  }
  void copy_strided(const Tensor& from, const Tensor& to) override { copy_dense(*this, from, to); }
  void wait() override {
    enter();
    check(driver().stream_wait(stream_), "a kernel");
  }

 private:
  std::size_t of_pool(int attribute) {
    enter();
    unsigned long long bytes = 0;
    check(driver().pool_get(pool_, attribute, &bytes), "querying its memory");
    return bytes;
  }
  static Address address_of(const std::byte* pointer) { return reinterpret_cast<Address>(pointer); }
  static std::byte* pointer_of(Address address) { return std::bit_cast<std::byte*>(address); }

  int index_;
  DeviceNumber number_;
  GpuInfo info_;
  std::string architecture_;
  ContextHandle context_ = nullptr;
  PoolHandle pool_ = nullptr;
  StreamHandle stream_ = nullptr;
  Staging staging_;
  Arithmetic arithmetic_ = Arithmetic::fp32;
  bool captures_ = false;
};

int gpu_count() {
  int count = 0;
  check(driver().device_count(&count), "counting GPUs");
  return count;
}

}  // namespace

std::string_view to_string(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::tf32 ? "tf32" : "fp32";
}

std::vector<GpuInfo> gpus() {
  std::vector<GpuInfo> found;
  if (!driver_missing().empty()) return found;
  for (int i = 0; i < gpu_count(); ++i) found.push_back(info_of(number_of(i)));
  return found;
}

CudaDevice& device(int index) {
  static std::mutex mutex;
  // Tensors may outlive everything else, so GPUs stay open.
  static auto& opened = *new std::vector<std::unique_ptr<OpenedGpu>>();
  const std::scoped_lock lock(mutex);
  const int count = gpu_count();
  user_check(index >= 0 && index < count, "there is no cuda:{}; this machine has {} GPU{}", index,
             count, count == 1 ? "" : "s");
  if (opened.empty()) opened.resize(static_cast<std::size_t>(count));
  auto& gpu = opened[static_cast<std::size_t>(index)];
  if (!gpu) gpu = std::make_unique<OpenedGpu>(index);
  return *gpu;
}

Stopwatch::Stopwatch(CudaDevice& device) : device_(device) {
  device_.enter();
  check(driver().event_create(&begin_, 0), "creating an event");
  check(driver().event_create(&end_, 0), "creating an event");
}

Stopwatch::~Stopwatch() {
  driver().event_destroy(begin_);
  driver().event_destroy(end_);
}

void Stopwatch::start() {
  device_.enter();
  check(driver().event_record(begin_, device_.stream()), "timing");
}

double Stopwatch::stop_seconds() {
  check(driver().event_record(end_, device_.stream()), "timing");
  check(driver().event_wait(end_), "a kernel");
  float milliseconds = 0;
  check(driver().event_milliseconds(&milliseconds, begin_, end_), "timing");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace hone::cuda
