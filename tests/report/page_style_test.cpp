#include "hone/report/page_style.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "hone/base/error.h"

namespace hone {
namespace {

// Returns the custom properties in the CSS block that contains `from`: "--ink" and so on, with their colours.
std::map<std::string, std::string> properties(const std::string& css, std::size_t from) {
  std::map<std::string, std::string> colours;
  const std::size_t end = css.find('}', from);
  for (std::size_t at = css.find("--", from); at < end; at = css.find("--", at + 1)) {
    const std::size_t colon = css.find(':', at);
    colours[css.substr(at + 2, colon - at - 2)] =
        css.substr(colon + 1, css.find(';', at) - colon - 1);
  }
  return colours;
}

// Web Content Accessibility Guidelines 2.2, "relative luminance" and "contrast ratio".
double luminance(const std::string& colour) {
  const double weights[] = {0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const double share =
        std::stoi(colour.substr(static_cast<std::size_t>(1 + 2 * i), 2), nullptr, 16) / 255.0;
    sum += weights[i] * (share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(const std::string& a, const std::string& b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

class PageStyle : public testing::TestWithParam<bool> {
 protected:
  PageStyle() {
    const std::string css = page_style();
    const std::size_t dark = css.find("prefers-color-scheme:dark");
    HONE_ASSERT(dark != std::string::npos, "no dark colours");
    colours_ = properties(css, GetParam() ? dark : 0);
  }
  void expect_contrast(double least, const std::string& text, const std::string& ground) {
    EXPECT_GE(contrast(colours_.at(text), colours_.at(ground)), least) << text << " on " << ground;
  }
  std::map<std::string, std::string> colours_;
};

TEST_P(PageStyle, HasLegibleText) {
  for (const char* text : {"ink", "quiet", "accent", "good", "bad"})
    for (const char* ground : {"ground", "card"}) expect_contrast(4.5, text, ground);
}

TEST_P(PageStyle, HasLegibleFigures) {
  for (const char* text : {"figure-ink", "figure-title", "figure-reference"})
    expect_contrast(4.5, text, "figure-ground");
  // On white, the lightest colours of Okabe and Ito reach less contrast. Markers compensate for that.
  for (int i = 1; i <= 12; ++i)
    expect_contrast(GetParam() ? 3 : 2, fmt::format("figure-series-{}", i), "figure-ground");
  EXPECT_EQ(colours_.at("figure-ground").size(), 7);
}

INSTANTIATE_TEST_SUITE_P(Schemes, PageStyle, testing::Bool(),
                         [](const auto& info) { return info.param ? "Dark" : "Light"; });

}  // namespace
}  // namespace hone
