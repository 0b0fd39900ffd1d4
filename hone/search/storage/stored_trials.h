#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/search/storage/database.h"
#include "hone/search/storage/storage.h"

/// Conversion of trials and attributes from and to rows of tables.
namespace hone {

/// Distributions by their texts, of which a study's trials have only a few.
using KnownDistributions = std::map<std::string, Distribution, std::less<>>;

/// Returns the state whose `to_string` is `name`. Throws `UserError`.
TrialState trial_state(std::string_view name);

/// Returns the trials for which a condition on the row `t` of `trials` holds, by id. Throws `UserError` for invalid
/// contents.
std::vector<Trial> read_stored_trials(Database& database, const std::string& condition,
                                      KnownDistributions& known);

/// Throws `UserError` for a name that does not fit into a table: more than 512 characters, or invalid UTF-8.
void check_stored_name(std::string_view what, const std::string& name);

/// Existing contents stay, except attributes, which are replaced.
void write_change(Database& database, std::int64_t trial, const TrialChange& change);
void write_values(Database& database, std::int64_t trial, const std::vector<double>& values);
/// `table`: "trial_user_attributes" and the like, whose `owner_key` is "trial_id" or "study_id".
void write_attributes(Database& database, const std::string& table, const std::string& owner_key,
                      std::int64_t owner, const std::map<std::string, Json>& attributes);

/// Visits the attributes that a query returns: owner, key, value.
void read_attributes(
    Database& database, const std::string& query,
    const std::function<void(std::int64_t owner, std::string key, Json value)>& visit);

}  // namespace hone
