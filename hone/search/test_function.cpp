#include "hone/search/test_function.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

double number(const Assignment& point, const char* name) { return point.at(name).get<double>(); }

double square(double x) { return x * x; }

double of_x_and_rate(const Assignment& point) {
  return square(number(point, "x") - 1) + square(std::log10(number(point, "lr")) + 3);
}

double cont(const Assignment& point) {
  return of_x_and_rate(point) + 4 * square(number(point, "y") - 0.3) + number(point, "z");
}

double mixed(const Assignment& point) {
  static const std::map<int, double> kOfHidden = {{128, 2}, {192, 0}, {256, 1}, {384, 3}};
  return of_x_and_rate(point) + 3 * std::abs(number(point, "drop") - 0.2) +
         std::abs(number(point, "layers") - 6) + number(point, "batch") / 100 +
         kOfHidden.at(point.at("hid").get<int>()) + (point.at("kind") == "b" ? 1.5 : 0) +
         4 * square(number(point, "y") - 0.3) + std::abs(number(point, "n") - 42) / 50;
}

}  // namespace

const std::vector<TestFunction>& test_functions() {
  static const SpaceParameter kX = {"x", real_values(-5, 5)};
  static const SpaceParameter kRate = {"lr", real_values(1e-5, 0.1, {}, true)};
  static const SpaceParameter kY = {"y", real_values(0, 1)};
  static const std::vector<TestFunction> kFunctions = {
      {"cont", {.parameters = {kX, kRate, kY, {"z", real_values(2, 3)}}}, cont},
      {"mixed",
       {.parameters = {kX,
                       kRate,
                       {"drop", real_values(0, 0.5, 0.1)},
                       {"layers", integer_values(2, 8, 2)},
                       {"batch", integer_values(1, 64, 1, true)},
                       {"hid", choice_of({128, 192, 256, 384})},
                       {"kind", choice_of({"a", "b"})},
                       kY,
                       {"n", integer_values(0, 100)}}},
       mixed},
  };
  return kFunctions;
}

const TestFunction& find_test_function(std::string_view name) {
  std::string names;
  for (const TestFunction& function : test_functions()) {
    if (function.name == name) return function;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", function.name);
  }
  fail("no test function is called '{}'; there are {}", name, names);
}

}  // namespace hone
