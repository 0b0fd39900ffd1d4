#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"

/// The JSON result of `hone passes`.
namespace hone {

struct PassOptionRow {
  std::string option, kind;
  bool required = false;
  std::optional<std::string> default_value = {};
  std::string summary;
};
const Fields& fields_of(const PassOptionRow*);

enum class PassUse : std::uint8_t { model, look, run };
std::span<const EnumName> enum_names(PassUse);

struct PassRow {
  std::string pass, summary;
  PassUse use = PassUse::model;
  std::vector<PassOptionRow> options = {};
  std::optional<std::string> example = {}, plugin = {};
};
const Fields& fields_of(const PassRow*);

struct PassesFields {
  std::vector<PassRow> passes;
};
const Fields& fields_of(const PassesFields*);

}  // namespace hone
