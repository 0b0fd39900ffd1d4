#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/json.h"

/// Reads JSON objects of other programs, where missing and null members are equivalent.
namespace hone {

using Members = LargeJson;  // a vocabulary is an object with 30,000 keys

/// Parses an object; throws `UserError` for anything else.
Members parse_members(std::string_view text);

/// Returns the beginning of a value, for messages.
std::string excerpt(const Members& value);

/// Returns `object[key]`, or null if it does not exist or `object` is not an object.
const Members& member(const Members& object, const char* key);

/// Returns `object[key]`, or an empty object if it is missing or null; throws `UserError` for anything else.
const Members& object_member(const Members& object, const char* key);

/// Returns the string `object["type"]`, or "".
std::string type_member(const Members& object);

/// Throws `UserError` unless `object[key]` is missing, null or `expected`.
void expect_member(const Members& object, const char* key, const Members& expected);

/// Reads `object[key]` as a T if it exists and is not null; throws `UserError` for another type.
template <typename T>
void read_member(const Members& object, const char* key, T& value) {
  const Members& found = member(object, key);
  if (found.is_null()) return;
  try {
    value = found.get<T>();
  } catch (const Members::exception&) {
    fail("\"{}\" has an unexpected type: {}", key, excerpt(found));
  }
}

}  // namespace hone
