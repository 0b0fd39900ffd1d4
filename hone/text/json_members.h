#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/json.h"

/// Reading JSON objects that others wrote, where what is missing or null says nothing.
namespace hone {

using Members = LargeJson;  // a vocabulary is an object of 30,000 keys

/// The object that `text` is; throws `UserError` for anything else.
Members parse_members(std::string_view text);

/// The beginning of a value, for messages.
std::string excerpt(const Members& value);

/// `object[key]`, or null where it is not there or `object` is none.
const Members& member(const Members& object, const char* key);

/// `object[key]`, or an empty object where it is not there or null; throws `UserError` for anything
/// else.
const Members& object_member(const Members& object, const char* key);

/// The string `object["type"]`, or "".
std::string type_member(const Members& object);

/// Throws `UserError` unless `object[key]` is missing, null or `expected`.
void expect_member(const Members& object, const char* key, const Members& expected);

/// `object[key]` as a T where it is there and not null; throws `UserError` for another type.
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
