#include "hone/base/fields.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/error.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

enum class Colour { red, green };
std::span<const EnumName> enum_names(Colour) {
  static constexpr EnumName kWords[] = {{0, "red"}, {1, "green"}};
  return kWords;
}

struct Range {
  double low = 0, high = 0;
};

struct Size {
  std::int64_t bytes = 0;
  std::optional<std::int64_t> disk_bytes = {};

  double kibibytes() const { return static_cast<double>(bytes) / 1024; }
};
const Fields& fields_of(const Size*) {
  static const Fields fields =
      describe<Size>("size", "A size.", field<&Size::bytes>("bytes", Unit::bytes, "In memory."),
                     field<&Size::disk_bytes>("disk_bytes", Unit::bytes, "On disk."),
                     field<&Size::kibibytes>("kibibytes", "The same in KiB."));
  return fields;
}

struct Model {
  std::string name;
  Size size = {};
  std::optional<Size> packed = {};
  std::vector<std::pair<std::string, double>> metrics = {};
  double loss = 0;
  Colour colour = Colour::red;
  Range interval = {};
  std::vector<Size> history = {};
  std::map<std::string, std::vector<bool>> flags = {};
  int secret = 7;
};
std::vector<std::string> metric_names() { return {"accuracy", "f1"}; }
const Fields& fields_of(const Model*) {
  using M = Model;
  static const Fields fields = describe<M>(
      "model", "A model.", field<&M::name>("name", "Its name."),
      field<&M::size>("size", "Its size."), inlined<&M::packed>(),
      spread<&M::metrics>("eval_", metric_names, "", Unit::share, "Metrics.").or_null(),
      field<&M::loss>("loss", "The loss.").or_null(), field<&M::colour>("colour", "Its colour."),
      field<&M::interval>("interval", "An interval."), field<&M::history>("history", "Sizes."),
      field<&M::flags>("flags", "Flags."), omitted<&M::secret>());
  return fields;
}

struct Trial {
  std::optional<Model> model = {};
};
const Fields& fields_of(const Trial*) {
  static const Fields fields = describe<Trial>("trial", "A trial.", inlined<&Trial::model>());
  return fields;
}

Model example() {
  return {.name = "tiny",
          .size = {2048, 4096},
          .packed = Size{512, {}},
          .metrics = {{"f1", 0.5}, {"accuracy", std::nan("")}},
          .loss = std::nan(""),
          .colour = Colour::green,
          .interval = {-1, 2},
          .history = {{1, {}}},
          .flags = {{"on", {true, false}}}};
}

TEST(FieldTables, WriteEveryFieldUnderItsKeyAndNullForWhatIsNotThere) {
  EXPECT_EQ(to_line(to_json(example())),
            R"({"name":"tiny","size":{"bytes":2048,"disk_bytes":4096,"kibibytes":2.0},)"
            R"("bytes":512,"disk_bytes":null,"kibibytes":0.5,"eval_f1":0.5,"eval_accuracy":null,)"
            R"("loss":null,"colour":"green","interval":[-1.0,2.0],)"
            R"("history":[{"bytes":1,"disk_bytes":null,"kibibytes":0.0009765625}],)"
            R"("flags":{"on":[true,false]}})");
  Model without = example();
  without.packed.reset();
  const Json json = to_json(without);
  for (const char* key : {"bytes", "disk_bytes", "kibibytes"}) EXPECT_TRUE(json.at(key).is_null());
}

TEST(FieldTables, OfNothingHaveNoKeysOfASpreadMap) {
  const Json json = to_json(Trial{});
  EXPECT_TRUE(json.at("name").is_null());
  for (const char* key : {"eval_", "eval_accuracy"}) EXPECT_FALSE(json.contains(key)) << key;
}

TEST(FieldTables, ReadWhatTheyWrote) {
  const Json json = to_json(example());
  const auto read = from_json<Model>(json);
  EXPECT_EQ(read.packed->bytes, 512);
  EXPECT_EQ(read.colour, Colour::green);
  EXPECT_TRUE(std::isnan(read.loss));
  EXPECT_EQ(read.flags.at("on"), (std::vector<bool>{true, false}));
  EXPECT_EQ(read.secret, 7);
  // Entries of a spread map are sorted by name.
  EXPECT_EQ(read.metrics[0].first, "accuracy");
  Model without = example();
  without.packed.reset();
  EXPECT_FALSE(from_json<Model>(to_json(without)).packed);
}

TEST(FieldTables, SayWhereAValueIsWrong) {
  const auto message = [](const char* key, Json value) {
    Json json = to_json(example());
    json[key] = std::move(value);
    try {
      from_json<Model>(json);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("colour", "blue"), "colour: expected one of red, green, found \"blue\"");
  EXPECT_EQ(message("name", 3), "name: expected text, found 3");
  EXPECT_EQ(message("size", {{"bytes", 1.5}}), "size: bytes: expected a whole number, found 1.5");
  EXPECT_EQ(message("interval", {1}), "interval: expected [low, high], found [1]");
  EXPECT_EQ(message("size", Json::object()), "size: has no key 'bytes'");
}

}  // namespace
}  // namespace hone::testing
