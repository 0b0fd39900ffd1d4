#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/search/storage/database.h"
#include "hone/search/storage/storage.h"

/// Trials and attributes as rows of tables, there and back.
namespace hone {

/// Distributions by the texts that stand for them: those of a study's trials are the same few.
using KnownDistributions = std::map<std::string, Distribution, std::less<>>;

/// What `to_string` makes of a state, back. Throws `UserError`.
TrialState trial_state(std::string_view name);

/// The trials that fulfil a condition on the row `t` of `trials`, by id. Throws `UserError` for what no trial can have.
std::vector<Trial> read_stored_trials(Database& database, const std::string& condition,
                                      KnownDistributions& known);

/// Throws `UserError` for a name that a table has no room for: more than 512 characters, or no text in UTF-8.
void check_stored_name(std::string_view what, const std::string& name);

/// What is there already stays, but for attributes, which are replaced.
void write_change(Database& database, std::int64_t trial, const TrialChange& change);
void write_values(Database& database, std::int64_t trial, const std::vector<double>& values);
/// `table`: "trial_user_attributes" and the like, whose `owner_key` is "trial_id" or "study_id".
void write_attributes(Database& database, const std::string& table, const std::string& owner_key,
                      std::int64_t owner, const std::map<std::string, Json>& attributes);

/// Attributes that a query finds: owner, key, value.
void read_attributes(
    Database& database, const std::string& query,
    const std::function<void(std::int64_t owner, std::string key, Json value)>& visit);

}  // namespace hone
