#include "hone/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>

#include "hone/base/error.h"

namespace hone {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::size_t terminal_columns(std::FILE* stream) {
  const std::string_view text = environment("COLUMNS");
  std::size_t columns = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && columns > 0)
    return columns;
  winsize size{};
  if (::isatty(::fileno(stream)) != 1) return 0;
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool wants_colour(std::FILE* stream, ColourChoice choice) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
  return ::isatty(::fileno(stream)) == 1 && environment("NO_COLOR").empty() &&
         environment("TERM") != "dumb";
}

ColourChoice parse_colour_choice(std::string_view text) {
  if (text == "auto") return ColourChoice::automatic;
  if (text == "always") return ColourChoice::always;
  user_check(text == "never", "`color`: expected auto, always or never, got '{}'", text);
  return ColourChoice::never;
}

}  // namespace hone
