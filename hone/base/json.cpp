#include "hone/base/json.h"

#include "hone/base/error.h"

namespace hone {

Json parse_json(std::string_view text, std::string_view where) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {  // besides parse_error also out_of_range, for 1e999
    fail("{}: malformed JSON: {}", where, error.what());
  }
}

Json read_json(const fs::path& path) { return parse_json(read_file(path), path.string()); }

std::string to_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_document(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hone
