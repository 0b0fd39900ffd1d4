#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/fields.h"

/// Describes options by tables: one table lists the options of a struct. Flags, help, reference pages, completion,
/// pipeline keys, checks and error messages derive from it.
///
///     Options options_of(const JobResume*) {
///       return {Heading::output,
///               {option<&JobResume::resume>("resume", "continue an interrupted run to the same bits"),
///                option<&JobResume::save_steps>("save_steps", "extra checkpoints every this many steps (0: none)")
///                    .from(0)
///                    .rare()}};
///     }
///
/// A struct that contains another one includes its table: `group<&TrainJob::resume>()`. A member may be a bool (a
/// flag), a number, a text, a path, an enum with names, a type with a text form (`TextLike`), or an optional or a list
/// of these.
namespace hone {

/// The heading of an option in help, in the order of help.
enum class Heading : std::uint8_t {
  options,
  data,
  training,
  calibration,
  output,
  execution,
  debugging
};
std::span<const EnumName> enum_names(Heading);

/// How the command uses the file or folder that an option names.
enum class Access : std::uint8_t {
  none,
  reads_model,
  reads_data,
  reads_adapter,
  reads_file,
  reads_runs,
  writes
};

/// The value of an option: its name in help, its shell completion, and the use of the file it names.
struct ValueKind {
  std::string_view shown = {};                      ///< name in help: "FILE"; "": that of the type
  bool files = false;                               ///< completes files and folders
  bool folders = false;                             ///< completes folders
  std::vector<std::string> (*choices)() = nullptr;  ///< possible values, or their beginnings
  Access access = Access::none;
  bool allows_leading_minus = false;                  ///< a value may begin with a minus: "-loss"
  std::span<const std::string_view> extensions = {};  ///< extensions of written files
  bool format = false;  ///< the values are number formats, which take parameters: "int(bits=4)"
  std::string_view separator = {};  ///< between several values: ","; "": a single value
  bool is_prefix = false;           ///< choices are only prefixes of values: "accuracy>=-"
};

/// Converts between texts and values of a type.
struct OptionType {
  std::string_view name;                                 ///< name in help: "INT"
  bool flag = false;                                     ///< takes no value
  bool list = false;                                     ///< takes several values
  std::vector<std::string> (*choices)() = nullptr;       ///< all possible values
  std::string (*problem)(const std::string&) = nullptr;  ///< why a text is invalid; "": it is valid
  void (*parse)(const std::string& text, void* value) = nullptr;  ///< lists: appends an element
  void (*clear)(void* list) = nullptr;
  std::string (*text)(const void* value) = nullptr;  ///< "": no value
};

/// The form of a list on the command line.
enum class ListForm : std::uint8_t {
  following,  ///< --runs a b
  repeated,   ///< --gate a --gate b
  separated   ///< --target a,b, or repeated
};

/// Returns what is wrong with a text; "": nothing.
using OptionCheck = std::function<std::string(const std::string&)>;

/// An option, or a positional argument.
struct OptionDef {
  std::vector<std::string> names;  ///< the first long one is used in settings; "o": -o
  std::string meaning;
  const OptionType* type = nullptr;
  std::function<void*(void* object)> at = {};  ///< returns the member
  std::optional<Heading> heading = {};
  bool is_common = true;  ///< false: only in --help-all
  bool is_positional = false, is_required = false;
  bool is_inverted = false;  ///< the flag sets its member to false
  /// Set by a command that runs this one: by a pipeline for its stages, by a search for its workers.
  bool is_for_caller = false;
  ListForm list_form = ListForm::following;
  ValueKind kind = {};
  std::vector<std::string> choices = {};  ///< all possible values; empty: not restricted
  std::vector<OptionCheck> checks = {};
  OptionCheck warning = {};  ///< for a valid text that may be a mistake
  OptionCheck replace = {};  ///< replaces an alias by its meaning
  std::string needs = {};    ///< an option that must be given with it
  std::string excludes = {};
  std::string unrestricted_by = {};  ///< if this option names a folder, any value is allowed
  std::optional<std::string> default_text = {};  ///< in help, instead of the member's value

  OptionDef&& rare() &&;
  OptionDef&& required(bool is = true) &&;
  OptionDef&& under(Heading heading) &&;
  OptionDef&& inverted() &&;
  OptionDef&& for_caller() &&;
  OptionDef&& repeated() &&;
  OptionDef&& separated() &&;
  OptionDef&& takes(const ValueKind& kind) &&;
  OptionDef&& shown(std::string_view kind) &&;
  /// Allows only these values.
  OptionDef&& one_of(std::vector<std::string> choices) &&;
  /// Requires a number of at least `low` and below `below`.
  OptionDef&& from(double low, double below = std::numeric_limits<double>::infinity()) &&;
  /// Requires a number from `low` to `high`, inclusive.
  OptionDef&& from_to(double low, double high) &&;
  /// Requires a number above 0 and at most `high`.
  OptionDef&& above_zero(double high = std::numeric_limits<double>::infinity()) &&;
  OptionDef&& checked(OptionCheck check) &&;
  /// Accepts texts for which `read` throws no `UserError`, whose message is used otherwise.
  template <typename Read>
  OptionDef&& accepted_by(Read read) &&;
  OptionDef&& warned(OptionCheck warning) &&;
  OptionDef&& replaced(OptionCheck by) &&;
  OptionDef&& needing(std::string_view option) &&;
  OptionDef&& excluding(std::string_view option) &&;

  /// Returns the name in settings: the first long one.
  const std::string& name() const;
};

/// The options of a struct, in the order of help.
struct Options {
  Options(OptionDef row) : rows{std::move(row)} {}  // NOLINT(google-explicit-constructor)
  /// Assigns `heading` to options without one.
  Options(Heading heading, std::initializer_list<Options> parts);
  Options(std::initializer_list<Options> parts) : Options(Heading::options, parts) {}

  /// Returns the option called `name`, for adapting it to one command.
  OptionDef& at(std::string_view name);

  std::vector<OptionDef> rows;
};

/// A struct with a table: `Options options_of(const T*)` in its namespace.
template <typename T>
concept HasOptions = requires(const T* t) {
  { options_of(t) } -> std::same_as<Options>;
};
template <HasOptions T>
Options options() {
  return options_of(static_cast<const T*>(nullptr));
}

/// Returns the option that has this name among its names, or null.
const OptionDef* find_option(const Options& options, std::string_view name);

/// Returns all values that an option accepts; empty: not restricted.
std::vector<std::string> choices_of(const OptionDef& row);

/// Returns why the option rejects a text, after `replace`; "": it accepts it.
std::string value_error(const OptionDef& row, const std::string& text);

/// Sets the option's member in `object` to a value from a file: a boolean for flags, a text or number for others, a
/// text with commas for lists. Throws `UserError` for what the command line would reject.
void set_option(const OptionDef& row, void* object, const Json& value);

/// Returns "expected a, b or c, got 'd'; did you mean 'c'?", or "" if the text is one of the choices.
std::string choice_error(const std::string& text, const std::vector<std::string>& choices);

namespace detail {

std::string number_error(const std::string& text, bool whole, bool is_signed);
std::vector<std::string> choices_of(std::span<const EnumName> names);
int enum_value(const std::string& text, std::span<const EnumName> names);
std::string number_text(double value);

template <typename Number>
void parse_number(const std::string& text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  user_check(error == std::errc() && stop == end, "expected a number, got {}", text);
}

template <typename T>
const OptionType* option_type();

template <typename T>
OptionType make_option_type() {
  OptionType type;
  const auto as = [](void* value) -> T& { return *static_cast<T*>(value); };
  const auto is = [](const void* value) -> const T& { return *static_cast<const T*>(value); };
  using As = decltype(as);
  using Is = decltype(is);
  if constexpr (std::same_as<T, bool>) {
    type.flag = true;
    type.choices = [] { return std::vector<std::string>{"true", "false"}; };
    type.parse = [](const std::string& text, void* v) { As()(v) = text == "true"; };
    type.text = [](const void* v) { return std::string(Is()(v) ? "true" : "false"); };
  } else if constexpr (std::integral<T>) {
    type.name = std::is_signed_v<T> ? "INT" : "UINT";
    type.problem = [](const std::string& text) {
      return number_error(text, true, std::is_signed_v<T>);
    };
    type.parse = [](const std::string& text, void* v) { parse_number(text, As()(v)); };
    type.text = [](const void* v) { return std::to_string(Is()(v)); };
  } else if constexpr (std::floating_point<T>) {
    type.name = "FLOAT";
    type.problem = [](const std::string& text) { return number_error(text, false, true); };
    type.parse = [](const std::string& text, void* v) { parse_number(text, As()(v)); };
    type.text = [](const void* v) { return number_text(Is()(v)); };
  } else if constexpr (std::same_as<T, std::string>) {
    type.name = "TEXT";
    type.parse = [](const std::string& text, void* v) { As()(v) = text; };
    type.text = [](const void* v) { return Is()(v); };
  } else if constexpr (std::same_as<T, fs::path>) {
    type.name = "TEXT";
    type.parse = [](const std::string& text, void* v) { As()(v) = text; };
    type.text = [](const void* v) { return Is()(v).string(); };
  } else if constexpr (TextLike<T>) {
    type.name = "TEXT";
    type.problem = [](const std::string& text) -> std::string {
      try {
        T value{};
        read_field_text(text, value);
        return "";
      } catch (const UserError& error) {
        return error.what();
      }
    };
    type.parse = [](const std::string& text, void* v) { read_field_text(text, As()(v)); };
    type.text = [](const void* v) { return std::string(field_text(Is()(v))); };
  } else if constexpr (NamedEnum<T>) {
    type.name = "TEXT";
    type.choices = [] { return choices_of(enum_names(T())); };
    type.parse = [](const std::string& text, void* v) {
      As()(v) = static_cast<T>(enum_value(text, enum_names(T())));
    };
    type.text = [](const void* v) { return std::string(enum_name(Is()(v))); };
  } else if constexpr (is_optional<T>) {
    using Element = typename T::value_type;
    type = *option_type<Element>();
    type.flag = false;
    if (type.name.empty()) type.name = "TEXT";
    type.parse = [](const std::string& text, void* v) {
      option_type<Element>()->parse(text, &As()(v).emplace());
    };
    type.text = [](const void* v) {
      return Is()(v) ? option_type<Element>()->text(&*Is()(v)) : std::string();
    };
  } else {
    static_assert(is_vector<T>, "a type that options cannot have");
    using Element = typename T::value_type;
    type = *option_type<Element>();
    type.list = true;
    type.parse = [](const std::string& text, void* v) {
      option_type<Element>()->parse(text, &As()(v).emplace_back());
    };
    type.clear = [](void* v) { As()(v).clear(); };
    type.text = [](const void* v) {
      std::string text;
      for (const Element& element : Is()(v))
        text += (text.empty() ? "" : ",") + option_type<Element>()->text(&element);
      return "[" + text + "]";
    };
  }
  return type;
}

template <typename T>
const OptionType* option_type() {
  static const OptionType type = make_option_type<T>();
  return &type;
}

// A path of nested members of an object.
template <auto kFirst, auto... kRest>
struct Path {
  using Class = typename Member<decltype(kFirst)>::Class;
  static auto& of(Class& object) {
    if constexpr (sizeof...(kRest) == 0)
      return object.*kFirst;
    else
      return Path<kRest...>::of(object.*kFirst);
  }
  using Type = std::remove_reference_t<decltype(of(std::declval<Class&>()))>;
  static void* at(void* object) { return &of(*static_cast<Class*>(object)); }
};

std::vector<std::string> names_in(std::string_view names);
// Returns the rows with members relative to `at(object)`.
Options shifted(Options options, void* (*at)(void* object));

}  // namespace detail

/// Returns the option of a member, or of a nested one: `option<&Job::data, &Data::split>`. `names` are separated by
/// commas: "learning_rate,lr".
template <auto... kMembers>
OptionDef option(std::string_view names, std::string_view meaning) {
  using Path = detail::Path<kMembers...>;
  return {.names = detail::names_in(names),
          .meaning = std::string(meaning),
          .type = detail::option_type<typename Path::Type>(),
          .at = Path::at};
}
/// Returns a positional argument. Its name is shown in capitals: "MODEL".
template <auto... kMembers>
OptionDef argument(std::string_view name, std::string_view meaning) {
  OptionDef row = option<kMembers...>(name, meaning);
  row.is_positional = true;
  return row;
}
/// Returns the options of a member with a table, or a given selection of them.
template <auto... kMembers>
Options group(Options of_member) {
  return detail::shifted(std::move(of_member), detail::Path<kMembers...>::at);
}
template <auto... kMembers>
Options group() {
  return group<kMembers...>(options<typename detail::Path<kMembers...>::Type>());
}

template <typename Read>
OptionDef&& OptionDef::accepted_by(Read read) && {
  return std::move(*this).checked([read](const std::string& text) -> std::string {
    try {
      read(text);
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  });
}

}  // namespace hone
