// Counts the dropouts of a model, removes them, and counts again; then shows the error that a mistake causes.
#include "dropouts.h"

#include "hone/ir/verify.h"
#include "hone/models/model_source.h"

using namespace hone;

void count(const Graph& graph) {
  fmt::print("{} dropouts, {} of them outside attention\n", graph.operations("dropout").size(),
             dropouts_outside_attention(graph));
}

int main(int argc, char** argv) {
  Context context(available_processors());
  try {
    Graph graph = open_model(argc > 1 ? argv[1] : "tiny", context, /*seed=*/42).model.graph;
    count(graph);
    remove_dropouts(graph, "*");
    verify(graph);
    count(graph);
    graph.erase(*graph.operations("softmax").front());
  } catch (const UserError& error) {
    fmt::print("error: {}\n", error.what());
  }
}
