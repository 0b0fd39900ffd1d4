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

/// Options as described structs: one table says which options a struct holds. Flags, help, reference pages, completion, keys of pipelines,
/// checks and error messages follow from it.
///
///     Options options_of(const JobResume*) {
///       return {Heading::output,
///               {option<&JobResume::resume>("resume", "continue an interrupted run to the same bits"),
///                option<&JobResume::save_steps>("save_steps", "extra checkpoints every this many steps (0: none)").from(0).rare()}};
///     }
///
/// A struct that holds another one includes its table: `group<&TrainJob::resume>()`. A member may be a truth value (a flag), a number, a
/// text, a path, an enum with words, what has a text (`TextLike`), an optional of these or a list of them.
namespace hone {

/// The heading in help that an option stands under, in the order of help.
enum class Heading : std::uint8_t {
  options,
  data,
  training,
  calibration,
  output,
  execution,
  debugging
};
std::span<const EnumWord> enum_words(Heading);

/// What the command does with the file or folder that an option names.
enum class Access : std::uint8_t {
  none,
  reads_model,
  reads_data,
  reads_adapter,
  reads_file,
  reads_runs,
  writes
};

/// What an option takes: how help calls it, what shells complete it with, and what becomes of the file it names.
struct ValueKind {
  std::string_view shown = {};                    ///< "FILE"; "": after the type
  bool files = false;                             ///< names of files and folders
  bool folders = false;                           ///< names of folders
  std::vector<std::string> (*words)() = nullptr;  ///< that a value may begin with
  Access access = Access::none;
  bool takes_minus = false;                           ///< a value may begin with a minus: "-loss"
  std::span<const std::string_view> written_as = {};  ///< endings of the files that are written
  bool format = false;  ///< the words are number formats, which take parameters: "int(bits=4)"
  std::string_view separator = {};  ///< between several of them: ","; "": there is one
  bool goes_on = false;             ///< the words only begin a value: "accuracy>=-"
};

/// How texts become values of a type.
struct OptionType {
  std::string_view name;                                 ///< in help: "INT"
  bool flag = false;                                     ///< takes no text
  bool list = false;                                     ///< takes several
  std::vector<std::string> (*words)() = nullptr;         ///< all that there are
  std::string (*problem)(const std::string&) = nullptr;  ///< why a text is no value; "": it is one
  void (*parse)(const std::string& text, void* value) = nullptr;  ///< lists: one more element
  void (*clear)(void* list) = nullptr;
  std::string (*text)(const void* value) = nullptr;  ///< "" for no value
};

/// How a list is written.
enum class ListForm : std::uint8_t {
  behind,    ///< --runs a b
  repeated,  ///< --gate a --gate b
  separated  ///< --target a,b, or repeated
};

/// What is wrong with a text; "": nothing.
using OptionCheck = std::function<std::string(const std::string&)>;

/// One option, or one positional argument.
struct OptionDef {
  std::vector<std::string> names;  ///< the first long one is that of settings; "o": -o
  std::string meaning;
  const OptionType* type = nullptr;
  std::function<void*(void* object)> at = {};  ///< the member
  std::optional<Heading> heading = {};
  bool is_common = true;  ///< in --help; else in --help-all alone
  bool is_positional = false, is_required = false;
  bool is_inverted = false;  ///< a flag that makes its member false
  /// A command that runs this one sets it: a pipeline for its stages, a search for its workers.
  bool is_for_caller = false;
  ListForm list_form = ListForm::behind;
  ValueKind kind = {};
  std::vector<std::string> words = {};  ///< all that it takes; empty: others, too
  std::vector<OptionCheck> checks = {};
  OptionCheck warning = {};  ///< of a text that is accepted but may not be what is meant
  OptionCheck replace = {};  ///< a text by what is meant
  std::string needs = {};    ///< an option that must be given with it
  std::string excludes = {};
  std::string open_with = {};  ///< an option: where it names a folder, other words are taken
  std::optional<std::string> default_text = {};  ///< in help, instead of the member's own

  OptionDef&& rare() &&;
  OptionDef&& required(bool is = true) &&;
  OptionDef&& under(Heading heading) &&;
  OptionDef&& inverted() &&;
  OptionDef&& for_caller() &&;
  OptionDef&& repeated() &&;
  OptionDef&& separated() &&;
  OptionDef&& takes(const ValueKind& kind) &&;
  OptionDef&& shown(std::string_view kind) &&;
  /// These words and no others.
  OptionDef&& one_of(std::vector<std::string> words) &&;
  /// A number of at least `low` and below `below`.
  OptionDef&& from(double low, double below = std::numeric_limits<double>::infinity()) &&;
  /// A number from `low` to `high`, both included.
  OptionDef&& from_to(double low, double high) &&;
  /// A number above 0 and at most `high`.
  OptionDef&& above_zero(double high = std::numeric_limits<double>::infinity()) &&;
  OptionDef&& checked(OptionCheck check) &&;
  /// Texts that `read` throws no `UserError` for; its message says what is wrong.
  template <typename Read>
  OptionDef&& accepted_by(Read read) &&;
  OptionDef&& warned(OptionCheck warning) &&;
  OptionDef&& replaced(OptionCheck by) &&;
  OptionDef&& needing(std::string_view option) &&;
  OptionDef&& excluding(std::string_view option) &&;

  /// The name in settings: the first long one.
  const std::string& name() const;
};

/// The options of a struct, in the order of help.
struct Options {
  Options(OptionDef row) : rows{std::move(row)} {}  // NOLINT(google-explicit-constructor)
  /// Those without a heading of their own get this one.
  Options(Heading heading, std::initializer_list<Options> parts);
  Options(std::initializer_list<Options> parts) : Options(Heading::options, parts) {}

  /// That of this name, to say what is special about it in one command.
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

/// The row that has this name among its names, or null.
const OptionDef* find_option(const Options& options, std::string_view name);

/// All words that an option takes; none: it takes other texts.
std::vector<std::string> words_of(const OptionDef& row);

/// Why the option refuses a text, after `replace`; "": it accepts it.
std::string problem_of(const OptionDef& row, const std::string& text);

/// Sets the option's member of `object` to a value of a file: a truth value of a flag, a text or a number of others, of lists a text
/// with commas. Throws `UserError` for what a command line would refuse.
void set_option(const OptionDef& row, void* object, const Json& value);

/// "expected a, b or c, got 'd'; did you mean 'c'?"; "": the text is one of the words.
std::string problem_of_word(const std::string& text, const std::vector<std::string>& words);

namespace detail {

std::string problem_of_number(const std::string& text, bool whole, bool is_signed);
std::vector<std::string> words_of(std::span<const EnumWord> words);
int value_of_word(const std::string& text, std::span<const EnumWord> words);
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
    type.words = [] { return std::vector<std::string>{"true", "false"}; };
    type.parse = [](const std::string& text, void* v) { As()(v) = text == "true"; };
    type.text = [](const void* v) { return std::string(Is()(v) ? "true" : "false"); };
  } else if constexpr (std::integral<T>) {
    type.name = std::is_signed_v<T> ? "INT" : "UINT";
    type.problem = [](const std::string& text) {
      return problem_of_number(text, true, std::is_signed_v<T>);
    };
    type.parse = [](const std::string& text, void* v) { parse_number(text, As()(v)); };
    type.text = [](const void* v) { return std::to_string(Is()(v)); };
  } else if constexpr (std::floating_point<T>) {
    type.name = "FLOAT";
    type.problem = [](const std::string& text) { return problem_of_number(text, false, true); };
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
  } else if constexpr (Worded<T>) {
    type.name = "TEXT";
    type.words = [] { return words_of(enum_words(T())); };
    type.parse = [](const std::string& text, void* v) {
      As()(v) = static_cast<T>(value_of_word(text, enum_words(T())));
    };
    type.text = [](const void* v) { return std::string(word_of(Is()(v))); };
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

// A member of a member of … of an object.
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
// The rows with their members found from `at(object)`.
Options shifted(Options options, void* (*at)(void* object));

}  // namespace detail

/// The option of a member, or of a member's member: `option<&Job::data, &Data::split>`. `names` apart by commas: "learning_rate,lr".
template <auto... kMembers>
OptionDef option(std::string_view names, std::string_view meaning) {
  using Path = detail::Path<kMembers...>;
  return {.names = detail::names_in(names),
          .meaning = std::string(meaning),
          .type = detail::option_type<typename Path::Type>(),
          .at = Path::at};
}
/// A positional argument, called by its name in capitals: "MODEL".
template <auto... kMembers>
OptionDef argument(std::string_view name, std::string_view meaning) {
  OptionDef row = option<kMembers...>(name, meaning);
  row.is_positional = true;
  return row;
}
/// The options of a member that has a table, or these of its.
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
