#include "hone/search/storage/stored_trials.h"

#include <cmath>
#include <limits>
#include <span>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/search/python_json.h"

namespace hone {
namespace {

constexpr std::size_t kMaxCharacters = 512;

struct Kind {
  const char* name;
  double value;
};
// Numbers that columns cannot hold; the type for a trial's values has no NaN.
const Kind kKinds[] = {{"INF_POS", std::numeric_limits<double>::infinity()},
                       {"INF_NEG", -std::numeric_limits<double>::infinity()},
                       {"NAN", std::numeric_limits<double>::quiet_NaN()}};

// Returns the two columns of a number.
std::pair<SqlValue, SqlValue> columns_of(double number) {
  for (const Kind& kind : kKinds)
    if (number == kind.value || (std::isnan(number) && std::isnan(kind.value)))
      return {nullptr, std::string(kind.name)};
  return {number, std::string("FINITE")};
}

double number_of(const SqlRow& row, int value, int type) {
  const std::string_view name = row.text(type);
  for (const Kind& kind : kKinds)
    if (name == kind.name) return kind.value;
  user_check(name == "FINITE" && !row.is_null(value), "a number of the kind '{}' without a value",
             name);
  return row.real(value);
}

// Restores all six decimals, because PostgreSQL omits trailing zeros.
std::string time_of(std::string_view text) {
  if (text.empty()) return {};
  std::string time(text);
  const std::size_t point = time.find('.');
  if (point == std::string::npos) return time + ".000000";
  time.resize(point + 7, '0');
  return time;
}

// Inserts any number of rows, several hundred per statement, to save round trips to a server.
void insert_rows(Database& database, const std::string& table, const std::string& columns,
                 const std::string& conflict, std::span<const std::vector<SqlValue>> rows) {
  constexpr std::size_t kMaxRows = 500;
  while (!rows.empty()) {
    const auto piece = rows.first(std::min(rows.size(), kMaxRows));
    rows = rows.subspan(piece.size());
    std::string places;
    std::vector<SqlValue> values;
    for (const std::vector<SqlValue>& row : piece) {
      places += places.empty() ? "(" : ", (";
      for (std::size_t i = 0; i < row.size(); ++i) {
        values.push_back(row[i]);
        places += fmt::format("{}${}", i == 0 ? "" : ", ", values.size());
      }
      places += ')';
    }
    database.run(fmt::format("INSERT INTO {} ({}) VALUES {} {}", table, columns, places, conflict),
                 values);
  }
}

// Runs `body`, and adds context to its errors. The context is built only for an error, since there are many rows.
template <typename Body, typename Where>
auto with_location(const Body& body, const Where& where) {
  try {
    return body();
  } catch (Error& error) {
    error.add_context(where());
    throw;
  }
}

TrialParameter parameter_of(const SqlRow& row, KnownDistributions& known) {
  const auto read = [&] {
    const std::string_view text = row.text(3);
    auto found = known.find(text);
    if (found == known.end()) found = known.emplace(text, parse_optuna_distribution(text)).first;
    const Distribution& distribution = found->second;
    const double value = row.real(2);
    user_check(!row.is_null(2) && (distribution.kind != DistributionKind::categorical ||
                                   distribution.contains(value)),
               "{} is not one of its values, which are {}", row.text(2), text);
    return TrialParameter{std::string(row.text(1)), distribution, value};
  };
  return with_location(read,
                       [&] { return fmt::format("parameter '{}'", shown_name(row.text(1))); });
}

}  // namespace

TrialState trial_state(std::string_view name) {
  for (const TrialState state : {TrialState::running, TrialState::complete, TrialState::pruned,
                                 TrialState::fail, TrialState::waiting})
    if (name == to_string(state)) return state;
  fail("no state of a trial is called '{}'", name);
}

void read_attributes(
    Database& database, const std::string& query,
    const std::function<void(std::int64_t owner, std::string key, Json value)>& visit) {
  database.run(query, {}, [&](const SqlRow& row) {
    std::string key(row.text(1));
    Json value = parse_python_json(
        row.text(2), fmt::format("{}: attribute '{}'", database.name(), shown_name(key)));
    visit(row.integer(0), std::move(key), std::move(value));
  });
}

std::vector<Trial> read_stored_trials(Database& database, const std::string& condition,
                                      KnownDistributions& known) {
  std::vector<Trial> trials;
  std::size_t at = 0;
  // Rows are in order of the trials. A row may belong to none, if another program deletes without a transaction.
  const auto trial_of = [&](std::int64_t id) -> Trial* {
    while (at < trials.size() && trials[at].id < id) ++at;
    return at < trials.size() && trials[at].id == id ? &trials[at] : nullptr;
  };
  const auto read = [&](const std::string& columns, const std::string& table,
                        const std::string& order, const auto& take) {
    at = 0;
    const std::string join =
        table.empty() ? "" : fmt::format("JOIN {} d ON d.trial_id = t.trial_id ", table);
    database.run(
        fmt::format("SELECT t.trial_id, {} FROM trials t {}WHERE {} ORDER BY t.trial_id{}", columns,
                    join, condition, order),
        {}, [&](const SqlRow& row) {
          with_location(
              [&] { take(row); },
              [&] { return fmt::format("{}: trial {}", database.name(), row.integer(0)); });
        });
  };
  read("number, state, datetime_start, datetime_complete", "", "", [&](const SqlRow& row) {
    Trial trial;
    trial.id = row.integer(0);
    trial.number = row.integer(1);
    trial.state = trial_state(row.text(2));
    trial.start = time_of(row.text(3));
    trial.end = time_of(row.text(4));
    trials.push_back(std::move(trial));
  });
  read("d.value, d.value_type", "trial_values", ", d.objective", [&](const SqlRow& row) {
    if (Trial* trial = trial_of(row.integer(0))) trial->values.push_back(number_of(row, 1, 2));
  });
  read("d.param_name, d.param_value, d.distribution_json", "trial_params", ", d.param_id",
       [&](const SqlRow& row) {
         if (Trial* trial = trial_of(row.integer(0)))
           trial->parameters.push_back(parameter_of(row, known));
       });
  read("d.step, d.intermediate_value, d.intermediate_value_type", "trial_intermediate_values", "",
       [&](const SqlRow& row) {
         if (Trial* trial = trial_of(row.integer(0)))
           trial->reports[row.integer(1)] = number_of(row, 2, 3);
       });
  for (const bool user : {true, false}) {
    at = 0;
    read_attributes(
        database,
        fmt::format("SELECT t.trial_id, d.\"key\", d.value_json FROM trials t JOIN {} d ON "
                    "d.trial_id = t.trial_id WHERE {} ORDER BY t.trial_id",
                    user ? "trial_user_attributes" : "trial_system_attributes", condition),
        [&](std::int64_t owner, std::string key, Json value) {
          if (Trial* trial = trial_of(owner))
            (user ? trial->user_attributes : trial->system_attributes)[std::move(key)] =
                std::move(value);
        });
  }
  return trials;
}

void check_stored_name(std::string_view what, const std::string& name) {
  const std::size_t characters = character_count(name);
  user_check(characters <= kMaxCharacters, "{} '{}': expected at most {} characters, got {}", what,
             shown_name(name, 40), kMaxCharacters, characters);
  // JSON's text is well-formed, so a name that does not survive the conversion was not.
  user_check(name.find('\0') == std::string::npos &&
                 parse_json(to_line(Json(name)), "name").get<std::string>() == name,
             "{} '{}': expected text in UTF-8", what, shown_name(name, 40));
}

void write_attributes(Database& database, const std::string& table, const std::string& owner_key,
                      std::int64_t owner, const std::map<std::string, Json>& attributes) {
  std::vector<std::vector<SqlValue>> rows;
  for (const auto& [key, value] : attributes) {
    check_stored_name("attribute", key);
    rows.push_back({owner, key, to_python_json(value)});
  }
  insert_rows(
      database, table, owner_key + ", \"key\", value_json",
      fmt::format("ON CONFLICT ({}, \"key\") DO UPDATE SET value_json = excluded.value_json",
                  owner_key),
      rows);
}

void write_values(Database& database, std::int64_t trial, const std::vector<double>& values) {
  std::vector<std::vector<SqlValue>> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    HONE_ASSERT(!std::isnan(values[i]), "value {} of trial {} is not a number", i, trial);
    auto [value, type] = columns_of(values[i]);
    rows.push_back({trial, static_cast<std::int64_t>(i), value, type});
  }
  insert_rows(database, "trial_values", "trial_id, objective, value, value_type", "", rows);
}

void write_change(Database& database, std::int64_t trial, const TrialChange& change) {
  std::vector<std::vector<SqlValue>> rows;
  for (const TrialParameter& parameter : change.parameters) {
    check_stored_name("parameter", parameter.name);
    rows.push_back({trial, parameter.name, parameter.value, to_optuna(parameter.distribution)});
  }
  insert_rows(database, "trial_params", "trial_id, param_name, param_value, distribution_json",
              "ON CONFLICT (trial_id, param_name) DO NOTHING", rows);
  rows.clear();
  for (const auto& [step, number] : change.reports) {
    auto [value, type] = columns_of(number);
    rows.push_back({trial, step, value, type});
  }
  insert_rows(database, "trial_intermediate_values",
              "trial_id, step, intermediate_value, intermediate_value_type",
              "ON CONFLICT (trial_id, step) DO NOTHING", rows);
  write_attributes(database, "trial_user_attributes", "trial_id", trial, change.user_attributes);
  write_attributes(database, "trial_system_attributes", "trial_id", trial,
                   change.system_attributes);
}

}  // namespace hone
