#include "hone/frontends/huggingface/unpickler.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using std::string_literals::operator""s;

// Pickles are built from opcodes; see Python's pickletools.
const std::string kBegin = "\x80\x02";

// torch.FloatStorage "k" of 4 elements.
const std::string kStorage =
    "(U\x07storagectorch\nFloatStorage\nU\x01kU\x03"
    "cpuK\x04tQ";

std::string repeated(std::size_t count, std::string_view part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

// Returns the value of an expression in opcodes.
template <typename T>
T value_of(const std::string& opcodes) {
  const std::string bytes = kBegin + opcodes + ".";
  const Pickle pickle = unpickle(bytes);
  EXPECT_EQ(pickle.size_bytes, bytes.size());
  const T* value = pickle.root->as<T>();
  EXPECT_NE(value, nullptr) << "got " << pickle.root->kind();
  return value == nullptr ? T{} : *value;
}

void expect_pickle_refused(std::string_view fragment, const std::string& opcodes) {
  expect_user_error(fragment, [&] { unpickle(kBegin + opcodes + "."); });
}

TEST(Unpickler, ReadsIntegersOfAllSizes) {
  EXPECT_EQ(value_of<std::int64_t>("K\xff"), 255);
  EXPECT_EQ(value_of<std::int64_t>("M\x01\x02"), 0x201);
  EXPECT_EQ(value_of<std::int64_t>("J\xff\xff\xff\xff"), -1);
  EXPECT_EQ(value_of<std::int64_t>("\x8a\x00"s), 0);
  EXPECT_EQ(value_of<std::int64_t>("\x8a\x01\x80"), -128);
  EXPECT_EQ(value_of<std::int64_t>("\x8a\x02\x80\x00"s), 128);
  EXPECT_EQ(value_of<std::int64_t>("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s), INT64_MIN);
  EXPECT_EQ(value_of<std::int64_t>("\x8a\x09\xfe\xff\xff\xff\xff\xff\xff\xff\xff"), -2);
  EXPECT_EQ(value_of<std::int64_t>("\x8a\x09\x02\x00\x00\x00\x00\x00\x00\x00\x00"s), 2);
}

// All tensors share one tuple of sizes. A tensor then takes a few bytes in the file and a thousand in memory.
TEST(Unpickler, RefusesDimensionsWithoutEnd) {
  const std::string shape = "(" + repeated(8, "K\x01") + "tq\x01";
  const std::string call =
      "ctorch._utils\n_rebuild_tensor_v2\nq\x02(" + kStorage + "K\0"s + "h\x01h\x01\x89}tq\x03";
  const std::string tensors = shape + call + repeated(125'001, "h\x02h\x03R");
  expect_pickle_refused("the tensors have more than 1000000 dimensions together", tensors);
}

TEST(Unpickler, KeepsIntegersBeyond64BitsAsBytes) {
  for (const std::string& digits :
       {"\x00\x00\x00\x00\x00\x00\x00\x80\x00"s, "\xff\xff\xff\xff\xff\xff\xff\x7f\xff"s}) {
    const std::string bytes = kBegin + "\x8a\x09" + digits + ".";
    const Pickle pickle = unpickle(bytes);
    ASSERT_NE(pickle.root->as<PickleBigInteger>(), nullptr) << pickle.root->kind();
    EXPECT_EQ(pickle.root->as<PickleBigInteger>()->bytes, digits);
  }
}

TEST(Unpickler, ReadsOtherValues) {
  EXPECT_EQ(value_of<double>("G\x40\x09\x21\xfb\x54\x44\x2d\x18"), 3.141592653589793);
  EXPECT_EQ(value_of<bool>("\x88"), true);
  EXPECT_EQ(value_of<bool>("\x89"), false);
  EXPECT_EQ(value_of<PickleList>("](K\x01K\x02"s + "eK\x03" + "a").items.size(), 3u);
  EXPECT_EQ(value_of<PickleTuple>("(K\x01K\x02K\x03K\x04t").items.size(), 4u);
  EXPECT_EQ(value_of<PickleDict>("}(U\x01x\x88U\x01y\x89uU\x01z\x88s").items.size(), 6u);
}

TEST(Unpickler, StringsViewTheInput) {
  const std::string bytes = kBegin + "X\x03\x00\x00\x00"s + "abc.";
  const Pickle pickle = unpickle(bytes);
  ASSERT_NE(pickle.root->as<std::string_view>(), nullptr);
  EXPECT_EQ(pickle.root->as<std::string_view>()->data(), bytes.data() + 7);
}

TEST(Unpickler, RemembersValues) {
  const Pickle put = unpickle(kBegin + "]q\x05h\x05\x86.");
  EXPECT_EQ(put.root->as<PickleTuple>()->items[0], put.root->as<PickleTuple>()->items[1]);
  const Pickle pickle = unpickle("\x80\x04]\x94h\x00\x86."s);  // MEMOIZE counts from 0
  const PickleItems& items = pickle.root->as<PickleTuple>()->items;
  EXPECT_EQ(items[0], items[1]);
}

TEST(Unpickler, CyclesAreHarmless) {
  const Pickle pickle = unpickle(kBegin + "]q\x01h\x01"s + "a.");
  const auto* list = pickle.root->as<PickleList>();
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->items[0], pickle.root);
}

TEST(Unpickler, DepthCostsNoStack) {
  const Pickle pickle = unpickle(kBegin + "N" + repeated(900'000, "\x85") + ".");
  EXPECT_NE(pickle.root->as<PickleTuple>(), nullptr);
}

TEST(Unpickler, MemoryIsBounded) {
  expect_pickle_refused("makes more than 1000000 values", repeated(1'000'001, "N0"));
  expect_pickle_refused("stacks more than 1000000 values", "Nq\x01" + repeated(1'000'001, "h\x01"));
  expect_pickle_refused("sets more than 1000000 marks", repeated(1'000'001, "("));
  expect_pickle_refused("remembers more than 1000000 values", "N" + repeated(1'000'001, "\x94"));
  expect_pickle_refused("expected at most 8 dimensions, got 9",
                        "ctorch._utils\n_rebuild_tensor_v2\n("s + kStorage + "K\x00("s +
                            repeated(9, "K\x01") + "tq\x01h\x01\x89}tR");
}

TEST(Unpickler, RefusesAllCallsButThoseOfStateDicts) {
  expect_pickle_refused(
      "pickle, byte 2: the pickle calls os.system: only dicts of tensors are read",
      "cos\nsystem\n(U\x02lstR");
  expect_pickle_refused("the pickle calls os.system", "(U\x02lsios\nsystem\n");
  expect_pickle_refused("the pickle calls nt.system", "U\x02ntU\x06system\x93");
  expect_pickle_refused("the pickle calls collections.OrderedDict.fromkeys",
                        "ccollections\nOrderedDict.fromkeys\n");
  expect_pickle_refused("the pickle calls torch._utils._rebuild_tensor_v3",
                        "ctorch._utils\n_rebuild_tensor_v3\n");
  expect_pickle_refused("element type torch.ShortStorage is not supported",
                        "ctorch\nShortStorage\n");
  expect_pickle_refused("opcode INST is not used by saved tensors", "(icollections\nOrderedDict\n");
  expect_pickle_refused("torch.FloatStorage is not a function that creates tensors",
                        "ctorch\nFloatStorage\n)R");
}

TEST(Unpickler, RefusesOtherOpcodes) {
  for (const char* opcode :
       {"\x81", "\x92", "o", "P", "2", "I", "S", "V", "\x82", "\x8f", "\x97"}) {
    expect_pickle_refused("is not used by saved tensors", opcode);
  }
  expect_user_error("expected pickle protocol 2 to 5, got 6", [] { unpickle("\x80\x06N."); });
  expect_user_error("expected pickle protocol 2 to 5, got 1", [] { unpickle("\x80\x01N."); });
}

TEST(Unpickler, RefusesProgramsThatDoNotAddUp) {
  expect_pickle_refused("the stack is empty", "");
  expect_pickle_refused("the stack is empty", "0");
  expect_pickle_refused("the stack is empty", "N(\x85");  // not across a mark
  expect_pickle_refused("no mark is set", "t");
  expect_pickle_refused("no value is remembered under 7", "h\x07");
  expect_pickle_refused("APPEND: expected a list, got a dict", "}Na");
  expect_pickle_refused("SETITEMS: expected a dict, got None", "N(NNu");
  expect_pickle_refused("SETITEMS: expected keys and values, got 3 items", "}(NNNu");
  expect_pickle_refused("BUILD: expected a dict to add to, got None", "N}b");
  expect_pickle_refused("REDUCE: expected a function, got None", "N)R");
  expect_pickle_refused("REDUCE: expected a tuple, got None", "ccollections\nOrderedDict\nNR");
  expect_pickle_refused("OrderedDict: expected no arguments, got 1",
                        "ccollections\nOrderedDict\n]\x85R");
  expect_pickle_refused("torch.Size: expected a tuple, got a list", "ctorch\nSize\n]\x85R");
  expect_pickle_refused("_rebuild_parameter: expected a tensor, got None",
                        "ctorch._utils\n_rebuild_parameter\nNNN\x87R");
  expect_pickle_refused("_rebuild_tensor_v2: expected 6 or 7 arguments, got 0",
                        "ctorch._utils\n_rebuild_tensor_v2\n)R");
  expect_pickle_refused("expected a line at byte 3, found no end of it", "cos");
}

TEST(Unpickler, RefusesOtherPersistentIds) {
  const std::string type = "ctorch\nFloatStorage\n";
  const auto id = [](const std::string& items) { return "(" + items + "tQ"; };
  EXPECT_EQ(value_of<StorageRecord>(id("U\x07storage" + type + "U\x01kU\x03" + "cpuK\x04")).count,
            4);
  EXPECT_EQ(value_of<StorageRecord>(id("U\x07storage" + type + "U\x01kU\x03" + "cpuK\x04N")).dtype,
            DType::f32);
  expect_pickle_refused("persistent id: expected a tuple, got None", "NQ");
  expect_pickle_refused("persistent id: expected 5 or 6 items, got 1", id("N"));
  expect_pickle_refused("persistent id: expected 'storage' first",
                        id("U\x06module" + type + "U\x01kU\x03" + "cpuK\x04"));
  expect_pickle_refused("expected a storage type, got torch.Size",
                        id("U\x07storagectorch\nSize\nU\x01kU\x03" + "cpuK\x04"s));
  expect_pickle_refused("expected no negative count, got -1",
                        id("U\x07storage" + type + "U\x01kU\x03" + "cpuJ\xff\xff\xff\xff"));
  expect_pickle_refused("expected None (no view of another storage), got a tuple",
                        id("U\x07storage" + type + "U\x01kU\x03" + "cpuK\x04)"));
}

}  // namespace
}  // namespace hone
