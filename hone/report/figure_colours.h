#pragma once

#include <string_view>

/// The colors of figures: in files, on white, and on pages with a dark background.
namespace hone {

struct FigureColour {
  std::string_view light;  ///< "#RRGGBB"
  std::string_view dark;
};

inline constexpr FigureColour kBackgroundColour = {"#FFFFFF", "#1E2126"};
inline constexpr FigureColour kTextColour = {"#333333", "#D6D5D2"};
inline constexpr FigureColour kTitleColour = {"#111111", "#F0EFEC"};
inline constexpr FigureColour kAxisColour = {"#777777", "#8E939C"};
inline constexpr FigureColour kGridColour = {"#E6E6E6", "#343940"};
inline constexpr FigureColour kReferenceColour = {"#666666", "#A3A8B1"};

/// Okabe and Ito's colors without the yellow, then ones that differ from them in lightness.
inline constexpr FigureColour kSeriesColours[] = {
    {"#0072B2", "#4DA3E0"}, {"#D55E00", "#F0803C"}, {"#009E73", "#2FC296"}, {"#CC79A7", "#E19CC3"},
    {"#E69F00", "#F2B632"}, {"#56B4E9", "#9FDBFA"}, {"#222222", "#E8E8E8"}, {"#882255", "#D0679A"},
    {"#8A8A00", "#C2C247"}, {"#332288", "#9A8CF0"}, {"#8C510A", "#C98F4E"}, {"#7F7F7F", "#A9A9A9"},
};

}  // namespace hone
