#include "hone/ir/graph.h"

#include <algorithm>

#include "hone/base/text.h"

namespace hone {
namespace {

void remove_one(std::vector<Node*>& users, const Node* user) {
  users.erase(std::find(users.begin(), users.end(), user));
}

void check_input_count(const std::vector<OperandDef>& operands, std::size_t given) {
  std::size_t required = 0;
  bool any = false;
  std::vector<std::string_view> names;
  for (const OperandDef& input : operands) {
    names.push_back(input.name);
    if (input.name.ends_with("..."))
      any = true;
    else if (!input.name.ends_with("?"))
      ++required;
  }
  user_check(given >= required && (any || given <= operands.size()), "takes {} inputs, got {}",
             fmt::join(names, ", "), given);
}

std::string place_of(const Node& node) {
  return fmt::format("at node %{} ({})", node.name(), node.op().name);
}

std::vector<Type> infer_at(const Node& node, const std::vector<Type>& inputs,
                           const Attributes& attributes) {
  return with_context(place_of(node), [&] { return node.op().infer({inputs, attributes}); });
}

std::vector<std::string> keys(const auto& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.emplace_back(name);
  return names;
}

}  // namespace

const OpDef& find_op(const OpTable& ops, std::string_view name) {
  const auto found = ops.find(name);
  // This runs for every added node, so suggestions are computed only after a failed lookup.
  if (found == ops.end())
    throw UserError(fmt::format("unknown operation '{}'{}", name, did_you_mean(name, keys(ops))));
  return found->second;
}

std::vector<OperandDef> operands_of(const OpDef& op, const Attributes& attributes) {
  return op.inputs_of == nullptr ? op.inputs : op.inputs_of(attributes);
}

OperandRole operand_role(const Node& node, std::size_t index) {
  const std::vector<OperandDef> operands = operands_of(node.op(), node.attributes());
  return operands[std::min(index, operands.size() - 1)].role;  // the last one may be variadic
}

const Type& Value::type() const {
  const std::vector<Type>& types = node->types();
  HONE_ASSERT(index >= 0 && index < static_cast<int>(types.size()), "%{} has no result {}",
              node->name(), index);
  return types[static_cast<std::size_t>(index)];
}

Trait Node::trait() const {
  return op_->trait_of == nullptr ? op_->trait
                                  : op_->trait_of(TypeContext{input_types(), attributes_});
}

std::vector<Type> Node::input_types() const {
  std::vector<Type> types;
  types.reserve(inputs_.size());
  for (const Value& input : inputs_) types.push_back(input.type());
  return types;
}

Attributes complete_attributes(const OpDef& op, const Attributes& given) {
  Attributes attributes = op.attributes;
  for (const auto& [name, value] : given.items()) {
    const Attribute* known = op.attributes.find(name);
    if (known == nullptr)
      throw UserError(fmt::format("has no attribute '{}'{}", name,
                                  did_you_mean(name, keys(op.attributes.items()))));
    user_check(std::holds_alternative<std::monostate>(*known) || known->index() == value.index(),
               "attribute '{}' has the wrong type", name);
    attributes.set(name, value);
  }
  for (const auto& [name, value] : attributes.items()) {
    user_check(!std::holds_alternative<std::monostate>(value), "needs the attribute '{}'", name);
  }
  return attributes;
}

Node* Graph::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<Node*> Graph::of_kind(NodeKind kind) const {
  std::vector<Node*> found;
  for (const auto& node : nodes_)
    if (node->kind() == kind) found.push_back(node.get());
  return found;
}

std::vector<Node*> Graph::operations(std::string_view op) const {
  std::vector<Node*> found;
  for (const auto& node : nodes_)
    if (node->is(op)) found.push_back(node.get());
  return found;
}

std::string Graph::unique_name(std::string_view wanted) const {
  std::string name(wanted);
  for (int number = 1; by_name_.contains(name); ++number)
    name = fmt::format("{}.{}", wanted, number);
  return name;
}

Node& Graph::insert(std::unique_ptr<Node> node, std::list<std::unique_ptr<Node>>::iterator at) {
  Node& placed = *node;
  by_name_.emplace(placed.name_, &placed);
  for (const Value& input : placed.inputs_) input.node->users_.push_back(&placed);
  placed.position_ = nodes_.insert(at, std::move(node));
  return placed;
}

Value Graph::add_input(std::string_view name, Type type) {
  user_check(find(name) == nullptr, "the graph has two nodes called '{}'", name);
  auto node = std::make_unique<Node>();
  node->kind_ = NodeKind::input;
  node->name_ = name;
  node->types_ = {std::move(type)};
  const auto at = std::find_if(nodes_.begin(), nodes_.end(),
                               [](const auto& n) { return n->kind() != NodeKind::input; });
  return {&insert(std::move(node), at)};
}

Value Graph::add_parameter(std::string_view name, Type type, ParameterRole role, bool trainable,
                           const Node* before) {
  user_check(find(name) == nullptr, "the graph has two nodes called '{}'", name);
  auto node = std::make_unique<Node>();
  node->kind_ = NodeKind::parameter;
  node->name_ = name;
  node->types_ = {std::move(type)};
  node->role_ = role;
  node->trainable_ = trainable;
  const auto first_operation = std::find_if(
      nodes_.begin(), nodes_.end(), [](const auto& n) { return n->kind() == NodeKind::operation; });
  return {&insert(std::move(node), before == nullptr ? first_operation : before->position_)};
}

Node& Graph::replace_operation(Node& operation, std::string_view op, std::vector<Value> inputs,
                               Attributes attributes) {
  const std::string name = operation.name_;
  const auto rename = [&](const std::string& other) {
    by_name_.erase(operation.name_);
    operation.name_ = other;
    by_name_.emplace(other, &operation);
  };
  rename(unique_name(name));
  try {
    Node& replacement = add_node(op, std::move(inputs), std::move(attributes), name, &operation);
    replace_uses({&operation, 0}, {&replacement, 0});
    erase(operation);
    return replacement;
  } catch (...) {
    rename(name);
    throw;
  }
}

Node& Graph::add_node(std::string_view op, std::vector<Value> inputs, Attributes attributes,
                      std::string_view name, const Node* before) {
  const OpDef& def = find_op(*ops_, op);
  auto node = std::make_unique<Node>();
  node->op_ = &def;
  node->name_ = unique_name(name.empty() ? op : name);
  node->inputs_ = std::move(inputs);
  with_context(fmt::format("at node %{} ({})", node->name_, op), [&] {
    for (const Value& input : node->inputs_) HONE_ASSERT(input, "empty input value");
    node->attributes_ = complete_attributes(def, attributes);
    check_input_count(operands_of(def, node->attributes_), node->inputs_.size());
    node->types_ = def.infer({node->input_types(), node->attributes_});
  });
  return insert(std::move(node), before == nullptr ? nodes_.end() : before->position_);
}

// Returns the new types of the nodes downstream of `from`, given the changed types in `types`. Unchanged nodes are left
// out.
Graph::NewTypes Graph::infer_downstream(const Node& from, NewTypes types) const {
  const auto changed = [&](const Value& input) { return types.contains(input.node); };
  for (auto at = std::next(from.position_); at != nodes_.end(); ++at) {
    const Node& node = **at;
    if (!std::ranges::any_of(node.inputs_, changed)) continue;
    std::vector<Type> inputs;
    for (const Value& input : node.inputs_)
      inputs.push_back(changed(input) ? types[input.node][static_cast<std::size_t>(input.index)]
                                      : input.type());
    std::vector<Type> inferred = infer_at(node, inputs, node.attributes_);
    if (inferred != node.types_) types.emplace(&node, std::move(inferred));
  }
  return types;
}

void Graph::adopt(const NewTypes& types) {
  for (const auto& [node, changed] : types) find(node->name_)->types_ = changed;
}

void Graph::rewire(Node& node, std::size_t index, Value value) {
  Value& input = node.inputs_[index];
  remove_one(input.node->users_, &node);
  value.node->users_.push_back(&node);
  input = value;
}

void Graph::set_input(Node& node, std::size_t index, Value value) {
  if (value.type() != node.inputs_[index].type()) {
    std::vector<Type> inputs = node.input_types();
    inputs[index] = value.type();
    adopt(infer_downstream(node, {{&node, infer_at(node, inputs, node.attributes_)}}));
  }
  rewire(node, index, value);
}

void Graph::replace_uses(Value from, Value to) {
  if (to.type() != from.type()) {
    std::vector<Type> types = from.node->types_;
    types[static_cast<std::size_t>(from.index)] = to.type();
    NewTypes changed = infer_downstream(*from.node, {{from.node, std::move(types)}});
    changed.erase(from.node);
    adopt(changed);
  }
  const std::vector<Node*> users = from.node->users_;
  for (Node* user : users) {
    for (std::size_t i = 0; i < user->inputs_.size(); ++i) {
      if (user->inputs_[i] == from) rewire(*user, i, to);
    }
  }
  for (auto& [name, value] : outputs_)
    if (value == from) value = to;
}

void Graph::set_attribute(Node& operation, std::string_view name, Attribute value) {
  HONE_ASSERT(operation.kind_ == NodeKind::operation, "%{} has no attributes", operation.name_);
  Attributes attributes = operation.attributes_;
  attributes.set(name, std::move(value));
  attributes = with_context(place_of(operation),
                            [&] { return complete_attributes(*operation.op_, attributes); });
  adopt(infer_downstream(operation,
                         {{&operation, infer_at(operation, operation.input_types(), attributes)}}));
  operation.attributes_ = std::move(attributes);
}

void Graph::set_type(Node& node, Type type) {
  HONE_ASSERT(node.kind_ != NodeKind::operation, "the type of %{} follows from its inputs",
              node.name_);
  adopt(infer_downstream(node, {{&node, {std::move(type)}}}));
}

void Graph::set_trainable(Node& parameter, bool trainable) { parameter.trainable_ = trainable; }

void Graph::erase(Node& node) {
  std::set<std::string> users;
  for (const Node* user : node.users_) users.insert("%" + user->name_);
  for (const auto& [name, value] : outputs_)
    if (value.node == &node) users.insert("output " + name);
  user_check(users.empty(), "cannot erase %{}: it is used by {}; replace those uses first",
             node.name_, fmt::join(users, ", "));
  for (const Value& input : node.inputs_) remove_one(input.node->users_, &node);
  by_name_.erase(node.name_);
  nodes_.erase(node.position_);
}

void Graph::set_output(std::string_view name, Value value) {
  HONE_ASSERT(value, "output {} without a value", name);
  for (auto& [key, old] : outputs_) {
    if (key == name) {
      old = value;
      return;
    }
  }
  outputs_.emplace_back(name, value);
}

void Graph::remove_output(std::string_view name) {
  std::erase_if(outputs_, [&](const auto& output) { return output.first == name; });
}

Value Graph::output(std::string_view name) const {
  for (const auto& [key, value] : outputs_)
    if (key == name) return value;
  return {};
}

bool Graph::is_output(const Node& node) const {
  return std::ranges::any_of(outputs_,
                             [&](const auto& output) { return output.second.node == &node; });
}

Graph::Graph(const Graph& other) : ops_(other.ops_) {
  std::map<const Node*, Node*> twins;
  for (const auto& node : other.nodes_) {
    auto twin = std::make_unique<Node>(*node);
    twin->users_.clear();
    for (Value& input : twin->inputs_) input.node = twins.at(input.node);
    twins.emplace(node.get(), &insert(std::move(twin), nodes_.end()));
  }
  for (const auto& [name, value] : other.outputs_)
    outputs_.emplace_back(name, Value{twins.at(value.node), value.index});
}

}  // namespace hone
