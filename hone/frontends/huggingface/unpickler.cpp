#include "hone/frontends/huggingface/unpickler.h"

#include <array>
#include <bit>
#include <optional>
#include <unordered_map>

#include "hone/base/byte_reader.h"
#include "hone/tensor/mapped.h"

// The machine of CPython's Lib/pickle.py: a stack of values, marks in it, and a memo of numbered values.
namespace hone {
namespace {

class Unpickler;
constexpr std::size_t kMaxValues = 1'000'000;  // on the stack, in the memo, and in total

}  // namespace

/// A name that a pickle may refer to: a storage type, or a function that builds a value from arguments.
struct PickleCallable {
  std::string_view module;
  std::string_view name;
  std::optional<DType> storage;
  PickleValue* (*call)(Unpickler& machine, const PickleItems& arguments) = nullptr;
};

namespace {

class Unpickler {
 public:
  Unpickler(std::string_view bytes, Pickle& pickle) : reader_(bytes), pickle_(pickle) {}

  void run();

  // Building blocks of the opcodes.
  ByteReader& reader() { return reader_; }
  template <typename T>
  PickleValue* make(T&& data) {
    user_check(pickle_.values.size() < kMaxValues, "the pickle makes more than {} values",
               kMaxValues);
    return &pickle_.values.emplace_back(PickleValue{std::forward<T>(data)});
  }
  template <typename T>
  void push_new(T&& data) {
    push(make(std::forward<T>(data)));
  }
  void push(PickleValue* value) {
    user_check(stack_.size() < kMaxValues, "the pickle stacks more than {} values", kMaxValues);
    stack_.push_back(value);
  }
  PickleValue* top() const {
    user_check(stack_.size() > (marks_.empty() ? 0 : marks_.back()), "the stack is empty");
    return stack_.back();
  }
  PickleValue* pop() {
    PickleValue* value = top();
    stack_.pop_back();
    return value;
  }
  void mark() {
    user_check(marks_.size() < kMaxValues, "the pickle sets more than {} marks", kMaxValues);
    marks_.push_back(stack_.size());
  }
  PickleItems pop_to_mark() {
    user_check(!marks_.empty(), "no mark is set");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    PickleItems items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  PickleItems pop_last(std::size_t count) {
    PickleItems items(count);
    while (count-- > 0) items[count] = pop();
    return items;
  }
  void memoize(std::uint32_t id) {
    user_check(memo_.size() < kMaxValues, "the pickle remembers more than {} values", kMaxValues);
    memo_[id] = top();
  }
  void memoize_next() { memoize(static_cast<std::uint32_t>(memo_.size())); }
  void recall(std::uint32_t id) {
    const auto found = memo_.find(id);
    user_check(found != memo_.end(), "no value is remembered under {}", id);
    push(found->second);
  }
  void stop() { pickle_.root = pop(); }
  // Many tensors may share a tuple of sizes, at a few bytes each.
  void count_dimensions(std::size_t count) {
    dimensions_ += count;
    user_check(dimensions_ <= kMaxValues, "the tensors have more than {} dimensions together",
               kMaxValues);
  }

 private:
  ByteReader reader_;
  Pickle& pickle_;
  PickleItems stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, PickleValue*> memo_;
  std::size_t dimensions_ = 0;  // of all tensors
};

template <typename T>
T& expect(PickleValue* value, std::string_view what, std::string_view expected) {
  T* found = std::get_if<T>(&value->data);
  user_check(found != nullptr, "{}: expected {}, got {}", what, expected, value->kind());
  return *found;
}

Sizes expect_sizes(PickleValue* value, std::string_view what) {
  const PickleItems& items = expect<PickleTuple>(value, what, "a tuple").items;
  user_check(items.size() <= kMaxDimensions, "{}: expected at most {} dimensions, got {}", what,
             kMaxDimensions, items.size());
  Sizes sizes;
  for (PickleValue* item : items) {
    sizes.push_back(expect<std::int64_t>(item, what, "integers"));
    user_check(sizes.back() >= 0, "{}: expected no negative number, got {}", what, sizes.back());
  }
  return sizes;
}

// Checks that the last reachable element, offset + sum((size - 1) * stride), is inside the storage.
void check_bounds(const TensorRecord& tensor) {
  std::int64_t last = tensor.offset;
  bool empty = false;
  bool fits = checked_size_bytes(tensor.storage.dtype, tensor.sizes).has_value();
  for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
    std::int64_t reach = 0;
    if (tensor.sizes[axis] == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(tensor.sizes[axis] - 1, tensor.strides[axis], &reach) ||
               __builtin_add_overflow(last, reach, &last)) {
      fits = false;
    }
  }
  fits = fits && (empty ? tensor.offset <= tensor.storage.count : last < tensor.storage.count);
  user_check(
      fits,
      "a tensor of shape {}, strides {}, offset {} reaches beyond its storage '{}' of {} elements",
      to_string(tensor.sizes), to_string(tensor.strides), tensor.offset, tensor.storage.key,
      tensor.storage.count);
}

PickleValue* ordered_dict(Unpickler& machine, const PickleItems& arguments) {
  user_check(arguments.empty(), "OrderedDict: expected no arguments, got {}", arguments.size());
  return machine.make(PickleDict{});
}

PickleValue* torch_size(Unpickler&, const PickleItems& arguments) {
  user_check(arguments.size() == 1, "torch.Size: expected 1 argument, got {}", arguments.size());
  expect<PickleTuple>(arguments[0], "torch.Size", "a tuple");
  return arguments[0];
}

// _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks[,
// metadata])
PickleValue* rebuild_tensor(Unpickler& machine, const PickleItems& arguments) {
  user_check(arguments.size() == 6 || arguments.size() == 7,
             "_rebuild_tensor_v2: expected 6 or 7 arguments, got {}", arguments.size());
  TensorRecord tensor;
  tensor.storage = expect<StorageRecord>(arguments[0], "_rebuild_tensor_v2", "a storage");
  tensor.offset = expect<std::int64_t>(arguments[1], "offset of a tensor", "an integer");
  tensor.sizes = expect_sizes(arguments[2], "shape of a tensor");
  tensor.strides = expect_sizes(arguments[3], "strides of a tensor");
  user_check(tensor.offset >= 0, "offset of a tensor: expected no negative number, got {}",
             tensor.offset);
  user_check(tensor.sizes.size() == tensor.strides.size(), "a tensor of shape {} has strides {}",
             to_string(tensor.sizes), to_string(tensor.strides));
  check_bounds(tensor);
  machine.count_dimensions(tensor.sizes.size());
  return machine.make(std::make_unique<const TensorRecord>(std::move(tensor)));
}

// _rebuild_parameter(data, requires_grad, backward_hooks)
PickleValue* rebuild_parameter(Unpickler&, const PickleItems& arguments) {
  user_check(arguments.size() == 3, "_rebuild_parameter: expected 3 arguments, got {}",
             arguments.size());
  expect<std::unique_ptr<const TensorRecord>>(arguments[0], "_rebuild_parameter", "a tensor");
  return arguments[0];
}

constexpr PickleCallable kCallables[] = {
    {"collections", "OrderedDict", {}, ordered_dict},
    {"torch", "Size", {}, torch_size},
    {"torch._utils", "_rebuild_tensor_v2", {}, rebuild_tensor},
    {"torch._utils", "_rebuild_parameter", {}, rebuild_parameter},
    {"torch", "FloatStorage", DType::f32},
    {"torch", "HalfStorage", DType::f16},
    {"torch", "BFloat16Storage", DType::bf16},
    {"torch", "DoubleStorage", DType::f64},
    {"torch", "LongStorage", DType::i64},
    {"torch", "IntStorage", DType::i32},
    {"torch", "CharStorage", DType::i8},
    {"torch", "ByteStorage", DType::u8},
    {"torch", "BoolStorage", DType::boolean},
};

void push_callable(Unpickler& machine, std::string_view module, std::string_view name) {
  for (const PickleCallable& row : kCallables) {
    if (row.module == module && row.name == name) return machine.push_new(&row);
  }
  user_check(module != "torch" || !name.ends_with("Storage"),
             "element type torch.{} is not supported; convert the tensor to another", name);
  fail(
      "the pickle calls {}.{}: only dicts of tensors are read, nothing else is run; if you trust "
      "the file, convert it "
      "to safetensors with the program that wrote it",
      module, name);
}

void global(Unpickler& machine) {
  const std::string_view module = machine.reader().line();
  push_callable(machine, module, machine.reader().line());
}

// INST calls the named function; saved tensors never use it, whatever the name.
void instance(Unpickler& machine) {
  global(machine);
  fail("opcode INST is not used by saved tensors");
}

void stack_global(Unpickler& machine) {
  const PickleItems names = machine.pop_last(2);
  push_callable(machine, expect<std::string_view>(names[0], "STACK_GLOBAL", "a string"),
                expect<std::string_view>(names[1], "STACK_GLOBAL", "a string"));
}

void reduce(Unpickler& machine) {
  const PickleItems& arguments = expect<PickleTuple>(machine.pop(), "REDUCE", "a tuple").items;
  const PickleCallable& callable =
      *expect<const PickleCallable*>(machine.pop(), "REDUCE", "a function");
  user_check(callable.call != nullptr, "{}.{} is not a function that creates tensors",
             callable.module, callable.name);
  machine.push(callable.call(machine, arguments));
}

// The state of a state dict is its version numbers, which are not needed.
void build(Unpickler& machine) {
  expect<PickleDict>(machine.pop(), "BUILD", "a dict");
  expect<PickleDict>(machine.top(), "BUILD", "a dict to add to");
}

// ("storage", type, key, location, count), and a view of another storage or None in the older layout.
void persistent_id(Unpickler& machine) {
  constexpr std::string_view kWhat = "persistent id";
  const PickleItems& id = expect<PickleTuple>(machine.pop(), kWhat, "a tuple").items;
  user_check(id.size() == 5 || id.size() == 6, "{}: expected 5 or 6 items, got {}", kWhat,
             id.size());
  user_check(expect<std::string_view>(id[0], kWhat, "a string") == "storage",
             "{}: expected 'storage' first", kWhat);
  const PickleCallable& type = *expect<const PickleCallable*>(id[1], kWhat, "a storage type");
  user_check(type.storage.has_value(), "{}: expected a storage type, got {}.{}", kWhat, type.module,
             type.name);
  StorageRecord storage;
  storage.dtype = *type.storage;
  storage.key = expect<std::string_view>(id[2], kWhat, "a string as key");
  storage.count = expect<std::int64_t>(id[4], kWhat, "an integer as count");
  user_check(storage.count >= 0, "{}: expected no negative count, got {}", kWhat, storage.count);
  if (id.size() == 6) expect<PickleNone>(id[5], kWhat, "None (no view of another storage)");
  machine.push_new(storage);
}

void append_all(Unpickler& machine, const PickleItems& values) {
  PickleItems& items = expect<PickleList>(machine.top(), "APPEND", "a list").items;
  items.insert(items.end(), values.begin(), values.end());
}

void set_all(Unpickler& machine, const PickleItems& pairs) {
  user_check(pairs.size() % 2 == 0, "SETITEMS: expected keys and values, got {} items",
             pairs.size());
  PickleItems& items = expect<PickleDict>(machine.top(), "SETITEMS", "a dict").items;
  items.insert(items.end(), pairs.begin(), pairs.end());
}

// LONG1: an integer in two's complement with the given length.
void long1(Unpickler& machine) {
  const std::string_view bytes = machine.reader().take(machine.reader().number<std::uint8_t>());
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const bool negative = !bytes.empty() && byte(bytes.size() - 1) >= 0x80;
  std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
  // The bits shifted out at the top must be copies of the sign.
  for (std::size_t i = bytes.size(); i-- > 0;) {
    if (value >> 56 != (negative ? 0xffu : 0u)) return machine.push_new(PickleBigInteger{bytes});
    value = value << 8 | byte(i);
  }
  if (value >> 63 != (negative ? 1u : 0u)) return machine.push_new(PickleBigInteger{bytes});
  machine.push_new(static_cast<std::int64_t>(value));
}

template <typename Number>
void integer(Unpickler& machine) {
  machine.push_new(std::int64_t{machine.reader().number<Number>()});
}

template <typename Length>
void text(Unpickler& machine) {
  machine.push_new(machine.reader().take(machine.reader().number<Length>()));
}

template <std::size_t count>
void tuple(Unpickler& machine) {
  machine.push_new(PickleTuple{machine.pop_last(count)});
}

// The number is big-endian, unlike all others.
void big_endian_double(Unpickler& machine) {
  machine.push_new(
      std::bit_cast<double>(__builtin_bswap64(machine.reader().number<std::uint64_t>())));
}

void protocol(Unpickler& machine) {
  const int version = machine.reader().number<std::uint8_t>();
  user_check(version >= 2 && version <= 5, "expected pickle protocol 2 to 5, got {}", version);
}

struct Opcode {
  unsigned char code;
  void (*run)(Unpickler&);
};

constexpr Opcode kOpcodes[] = {
    {0x80, protocol},
    {0x95, [](Unpickler& m) { m.reader().take(8); }},  // FRAME: a hint for reading ahead
    {'.', [](Unpickler& m) { m.stop(); }},
    {'(', [](Unpickler& m) { m.mark(); }},
    {'0', [](Unpickler& m) { m.pop(); }},
    {'1', [](Unpickler& m) { m.pop_to_mark(); }},
    {'N', [](Unpickler& m) { m.push_new(PickleNone{}); }},
    {0x88, [](Unpickler& m) { m.push_new(true); }},
    {0x89, [](Unpickler& m) { m.push_new(false); }},
    {'J', integer<std::int32_t>},
    {'K', integer<std::uint8_t>},
    {'M', integer<std::uint16_t>},
    {0x8a, long1},
    {'G', big_endian_double},
    {'X', text<std::uint32_t>},  // BINUNICODE
    {0x8c, text<std::uint8_t>},  // SHORT_BINUNICODE
    {'T', text<std::uint32_t>},  // BINSTRING, of Python 2
    {'U', text<std::uint8_t>},   // SHORT_BINSTRING
    {'B', text<std::uint32_t>},  // BINBYTES
    {'C', text<std::uint8_t>},   // SHORT_BINBYTES
    {')', tuple<0>},
    {0x85, tuple<1>},
    {0x86, tuple<2>},
    {0x87, tuple<3>},
    {'t', [](Unpickler& m) { m.push_new(PickleTuple{m.pop_to_mark()}); }},
    {']', [](Unpickler& m) { m.push_new(PickleList{}); }},
    {'a', [](Unpickler& m) { append_all(m, m.pop_last(1)); }},
    {'e', [](Unpickler& m) { append_all(m, m.pop_to_mark()); }},
    {'}', [](Unpickler& m) { m.push_new(PickleDict{}); }},
    {'s', [](Unpickler& m) { set_all(m, m.pop_last(2)); }},
    {'u', [](Unpickler& m) { set_all(m, m.pop_to_mark()); }},
    {'q', [](Unpickler& m) { m.memoize(m.reader().number<std::uint8_t>()); }},
    {'r', [](Unpickler& m) { m.memoize(m.reader().number<std::uint32_t>()); }},
    {0x94, [](Unpickler& m) { m.memoize_next(); }},
    {'h', [](Unpickler& m) { m.recall(m.reader().number<std::uint8_t>()); }},
    {'j', [](Unpickler& m) { m.recall(m.reader().number<std::uint32_t>()); }},
    {'c', global},
    {'i', instance},
    // does not fit
    {0x93, stack_global},
    {'R', reduce},
    {'b', build},
    {'Q', persistent_id},
};

const Opcode* find_opcode(unsigned char code) {
  static const auto by_code = [] {
    std::array<const Opcode*, 256> rows{};
    for (const Opcode& row : kOpcodes) rows[row.code] = &row;
    return rows;
  }();
  return by_code[code];
}

void Unpickler::run() {
  std::size_t at = 0;
  try {
    while (pickle_.root == nullptr) {
      at = reader_.position();
      const auto code = reader_.number<std::uint8_t>();
      const Opcode* opcode = find_opcode(code);
      user_check(opcode != nullptr,
                 "opcode 0x{:02x} is not used by saved tensors; the file is damaged or contains "
                 "something else",
                 code);
      opcode->run(*this);
    }
  } catch (Error& error) {
    error.add_context(fmt::format("pickle, byte {}", at));
    throw;
  }
  pickle_.size_bytes = reader_.position();
}

}  // namespace

std::string_view PickleValue::kind() const {
  constexpr std::string_view kKinds[] = {
      "None",    "a boolean", "an integer", "a number",   "a large integer", "a string",
      "a tuple", "a list",    "a dict",     "a function", "a storage",       "a tensor"};
  static_assert(std::size(kKinds) == std::variant_size_v<decltype(data)>);
  return kKinds[data.index()];
}

Pickle unpickle(std::string_view bytes) {
  Pickle pickle;
  Unpickler(bytes, pickle).run();
  return pickle;
}

}  // namespace hone
