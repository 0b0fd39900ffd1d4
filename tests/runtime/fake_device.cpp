#include "tests/runtime/fake_device.h"

#include <sys/mman.h>

#include <cstring>

namespace hone::testing {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{64} << 20;

// A tensor of the host over the same memory. It keeps the device's storage alive.
Tensor alias_on_host(const Tensor& tensor) {
  const StoragePointer& owner = tensor.storage();
  StoragePointer alias(new Storage{&cpu(), owner->pointer, owner->size_bytes},
                       [owner](Storage* storage) { delete storage; });
  return Tensor::view_of(alias, tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset());
}

// Runs the operation's reference on aliases of the inputs and of fresh outputs.
void run_reference(Call& call) {
  FakeDevice::Open open(dynamic_cast<FakeDevice&>(call.input(0).device()));
  std::vector<Tensor> inputs, outputs(call.outputs.size());
  std::vector<const Tensor*> input_pointers;
  std::map<const Storage*, StoragePointer> owners;  // alias -> memory of the device
  const auto aliased = [&](const Tensor& tensor) {
    Tensor alias = alias_on_host(tensor);
    owners.emplace(alias.storage().get(), tensor.storage());
    return alias;
  };
  const auto allocate = [&](DType dtype, Sizes sizes) {
    return aliased(call.allocate(dtype, std::move(sizes)));
  };
  for (const Tensor* input : call.inputs) inputs.push_back(aliased(*input));
  for (const Tensor& input : inputs) input_pointers.push_back(&input);
  const std::vector<char> none_dies(inputs.size(), 0);
  Call host{call.op, call.attributes, input_pointers, none_dies, call.types,
            outputs, call.bindings,   call.pool,      allocate};
  call.op.reference(host);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    const auto owner = owners.find(output.storage().get());
    if (owner != owners.end()) {
      call.set_output(i, Tensor::view_of(owner->second, output.dtype(), output.sizes(),
                                         output.strides(), output.offset()));
    } else {  // a view of a copy that the reference made on the host
      std::memcpy(call.output(i).device_pointer(), output.device_pointer(), output.size_bytes());
    }
  }
}

}  // namespace

FakeDevice::FakeDevice() {
  void* arena = ::mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  HONE_ASSERT(arena != MAP_FAILED, "no address space for the fake device");
  arena_ = static_cast<std::byte*>(arena);
}

FakeDevice::~FakeDevice() { ::munmap(arena_, kArenaBytes); }

void FakeDevice::protect(int protection) {
  HONE_ASSERT(::mprotect(arena_, kArenaBytes, protection) == 0, "the arena cannot be protected");
}

FakeDevice::Open::Open(FakeDevice& device) : device_(device) {
  if (device_.openings_++ == 0) device_.protect(PROT_READ | PROT_WRITE);
}
FakeDevice::Open::~Open() {
  if (--device_.openings_ == 0) device_.protect(PROT_NONE);
}

StoragePointer FakeDevice::allocate(std::size_t size_bytes) {
  const std::size_t rounded = (size_bytes + 63) / 64 * 64;
  std::byte* pointer = nullptr;
  if (const auto found = free_.find(rounded); found != free_.end()) {
    pointer = found->second;
    free_.erase(found);
  } else {
    user_check(next_ + rounded <= kArenaBytes, "the fake device has {} bytes", kArenaBytes);
    pointer = arena_ + next_;
    next_ += rounded;
  }
  const Open open(*this);
  std::memset(pointer, 0xff, rounded);
  used_bytes_ += rounded;
  return {new Storage{this, pointer, size_bytes}, [this, rounded](Storage* storage) {
            free_.emplace(rounded, storage->pointer);
            used_bytes_ -= rounded;
            delete storage;
          }};
}

void FakeDevice::upload(std::byte* to, std::span<const std::byte> from) {
  copy(to, from.data(), from.size());
}
void FakeDevice::download(std::span<std::byte> to, const std::byte* from) {
  copy(to.data(), from, to.size());
}
void FakeDevice::copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  const Open open(*this);
  if (size_bytes > 0) std::memcpy(to, from, size_bytes);
}

const Library& fake_library() {
  static const Library library = [] {
    Library built = builtin_library();
    built.kernels.clear();
    for (const auto& [name, op] : built.ops) {
      const auto takes_all = [](const CallSite&) -> std::string_view { return ""; };
      built.kernels.push_back({op.name, "fake", "reference", takes_all, run_reference});
    }
    return built;
  }();
  return library;
}

}  // namespace hone::testing
