#include "hone/text/json_members.h"

#include "hone/base/printable.h"

namespace hone {

Members parse_members(std::string_view text) {
  Members file = parse_large_json(text);
  user_check(file.is_object(), "expected an object, got {}", file.type_name());
  return file;
}

std::string excerpt(const Members& value) {
  return shorten(value.dump(-1, ' ', false, Members::error_handler_t::replace), 60);
}

const Members& member(const Members& object, const char* key) {
  static const Members null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

const Members& object_member(const Members& object, const char* key) {
  static const Members empty = Members::object();
  const Members& found = member(object, key);
  user_check(found.is_null() || found.is_object(), "\"{}\": expected an object, got {}", key,
             excerpt(found));
  return found.is_null() ? empty : found;
}

std::string type_member(const Members& object) {
  std::string type;
  read_member(object, "type", type);
  return type;
}

void expect_member(const Members& object, const char* key, const Members& expected) {
  const Members& found = member(object, key);
  user_check(found.is_null() || found == expected,
             "\"{}\": {} is not supported; expected {} or null", key, excerpt(found),
             excerpt(expected));
}

}  // namespace hone
