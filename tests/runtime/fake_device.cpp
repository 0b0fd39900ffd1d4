#include "tests/runtime/fake_device.h"

#include <algorithm>

#include <sys/mman.h>

#include <cstring>

namespace hone::testing {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{64} << 20;

// Returns a host tensor over the same memory, without ownership. Freed memory is not written again before earlier work
// on the queue is done.
Tensor alias_on_host(const Tensor& tensor) {
  const StoragePointer& owner = tensor.storage();
  const StoragePointer alias(new Storage{&cpu(), owner->pointer, owner->size_bytes});
  return Tensor::view_of(alias, tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset());
}

/// A host call on device memory. Only the device's thread may run it.
struct HostCall {
  const OpDef& op;
  const Attributes& attributes;
  std::vector<Tensor> inputs;
  std::span<const Type> types;
  std::vector<Tensor> outputs;  // the reference allocates undefined outputs
  Bindings bindings;

  void run() {
    ThreadPool pool(1);
    std::vector<const Tensor*> pointers;
    for (const Tensor& input : inputs) pointers.push_back(&input);
    const std::vector<char> none_dies(inputs.size(), 0);
    const auto allocate = [](DType dtype, Sizes sizes) { return Tensor::empty(dtype, sizes); };
    Call call{op,      attributes, pointers, none_dies, types,
              outputs, bindings,   cpu(),    &pool,     allocate};
    op.reference(call);
  }
};

HostCall host_call(const Call& call) {
  HostCall host{call.op, call.attributes, {}, call.types, {}, call.bindings};
  for (const Tensor* input : call.inputs) host.inputs.push_back(alias_on_host(*input));
  host.outputs.resize(call.outputs.size());
  return host;
}

// Runs an operation whose outputs may share memory with an input, which only the reference knows. Waits until the
// reference has run.
void run_alias(Call& call, FakeDevice& device) {
  HostCall host = host_call(call);
  device.put([&host] { host.run(); });
  device.wait();
  for (std::size_t i = 0; i < host.outputs.size(); ++i) {
    const Tensor& output = host.outputs[i];
    const auto shares = [&](const Tensor& input) { return input.storage() == output.storage(); };
    const auto input = std::ranges::find_if(host.inputs, shares);
    if (input != host.inputs.end()) {
      const Tensor& owner = call.input(static_cast<std::size_t>(input - host.inputs.begin()));
      call.set_output(i, Tensor::view_of(owner.storage(), output.dtype(), output.sizes(),
                                         output.strides(), output.offset()));
    } else {  // the reference made a copy on the host
      const Tensor& made = call.output(i);
      device.upload(made.device_pointer(), {output.device_pointer(), output.size_bytes()});
    }
  }
}

// Runs the operation's reference on aliases of the inputs and of fresh outputs.
void run_reference(Call& call) {
  auto& device = dynamic_cast<FakeDevice&>(call.device);
  if (call.op.trait == Trait::view || call.op.trait == Trait::update)
    return run_alias(call, device);
  HostCall host = host_call(call);
  for (std::size_t i = 0; i < host.outputs.size(); ++i) {
    call.set_output(i, call.allocate(call.types[i].dtype, call.output_sizes(i)));
    host.outputs[i] = alias_on_host(call.outputs[i]);
  }
  device.put([host, expected = host.outputs]() mutable {
    host.run();
    for (std::size_t i = 0; i < expected.size(); ++i)
      HONE_ASSERT(host.outputs[i].device_pointer() == expected[i].device_pointer(),
                  "{} puts its output elsewhere", host.op.name);
  });
}

// Accepts only one format.
std::string_view takes_integers(const CallSite& site) {
  return site.attributes.get<Format>("format").def->name == "integer" ? "" : "no integer";
}

}  // namespace

FakeDevice::FakeDevice(int index) : index_(index) {
  void* arena = ::mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  HONE_ASSERT(arena != MAP_FAILED, "no address space for the fake device");
  arena_ = static_cast<std::byte*>(arena);
  thread_ = std::thread([this] { work_through(); });
}

FakeDevice::~FakeDevice() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
  ::munmap(arena_, kArenaBytes);
}

void FakeDevice::protect(int protection) {
  HONE_ASSERT(::mprotect(arena_, kArenaBytes, protection) == 0, "the arena cannot be protected");
}

void FakeDevice::work_through() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !queue_.empty() || ends_; });
    if (queue_.empty()) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    works_ = true;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      protect(PROT_READ | PROT_WRITE);
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    protect(PROT_NONE);
    lock.lock();
    works_ = false;
    if (thrown && !thrown_) thrown_ = thrown;
    changed_.notify_all();
  }
}

void FakeDevice::put(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void FakeDevice::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !works_; });
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
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
  put([pointer, rounded] { std::memset(pointer, 0xff, rounded); });
  used_bytes_ += rounded;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  return {new Storage{this, pointer, size_bytes}, [this, rounded](Storage* storage) {
            free_.emplace(rounded, storage->pointer);
            used_bytes_ -= rounded;
            delete storage;
          }};
}

void FakeDevice::upload(std::byte* to, std::span<const std::byte> from) {
  put([to, bytes = std::vector<std::byte>(from.begin(), from.end())] {
    std::ranges::copy(bytes, to);
  });
}
void FakeDevice::download(std::span<std::byte> to, const std::byte* from) {
  put([to, from] { std::copy_n(from, to.size(), to.data()); });
  wait();
}
void FakeDevice::copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  put([to, from, size_bytes] { std::copy_n(from, size_bytes, to); });
}

void FakeDevice::copy_strided(const Tensor& from, const Tensor& to) {
  put([from = alias_on_host(from), to = alias_on_host(to)] {
    const Tensor dense = from.contiguous_copy();
    std::copy_n(dense.device_pointer(), dense.size_bytes(), to.device_pointer());
  });
}
std::optional<std::size_t> FakeDevice::free_bytes() { return kArenaBytes - used_bytes_; }

const Library& fake_library() {
  static const Library library = [] {
    Library built = builtin_library();
    built.kernels.clear();
    const auto takes_all = [](const CallSite&) -> std::string_view { return ""; };
    built.kernels.push_back({"quantize", "fake", "integer", takes_integers, run_reference});
    for (const auto& [name, op] : built.ops)
      built.kernels.push_back({op.name, "fake", "reference", takes_all, run_reference});
    return built;
  }();
  return library;
}

}  // namespace hone::testing
