#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "hone/base/text.h"
#include "hone/ir/graph.h"

// A custom pass: finds the dropouts of a graph, and removes those that match a glob. The program and the plugin in this
// folder both use it.

// Attention weights, the results of softmax, have a dropout of their own.
static bool is_of_attention(const hone::Node& dropout) {
  return dropout.input(0).node->is("softmax");
}

static std::int64_t dropouts_outside_attention(const hone::Graph& graph) {
  return std::ranges::count_if(graph.operations("dropout"), [](const hone::Node* dropout) {
    return !is_of_attention(*dropout);
  });
}

// Replaces dropouts by their inputs and erases them. Returns whether the graph changed.
static bool remove_dropouts(hone::Graph& graph, const std::string& names) {
  std::set<hone::Node*> keys;  // of random numbers: an input of training
  for (hone::Node* dropout : graph.operations("dropout")) {
    if (!hone::glob_match(names, dropout->name())) continue;
    keys.insert(dropout->input(1).node);
    graph.replace_uses(dropout->result(), dropout->input(0));  // without this line `erase` refuses
    graph.erase(*dropout);
  }
  for (hone::Node* key : keys)
    if (!graph.is_read(*key)) graph.erase(*key);
  return !keys.empty();
}
