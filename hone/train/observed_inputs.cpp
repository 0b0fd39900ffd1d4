#include "hone/train/observed_inputs.h"

#include "hone/base/interrupt.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"

namespace hone {

void observe_outputs(Graph graph, ParameterStore& parameters, const ExampleSource& data,
                     const CalibrationRun& run, const Session& session, double beside,
                     const std::function<void(const std::string&, const Tensor&)>& body) {
  user_check(data.size() > 0, "calibration needs examples: the training split is empty");
  parameters = parameters.on(session.device);
  run_passes(graph, parameters, session, {"remove_dropout", "remove_dead_code"});
  const std::unique_ptr<Executable> executable = session.executable(graph);
  const std::vector<std::int64_t> sample = calibration_rows(data.size(), run);
  check_batches(graph, lengths_of(data, sample), /*batch_size=*/1, session, parameters,
                " for calibration", beside);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    stop_if_interrupted();
    for (const auto& [name, tensor] :
         executable->run(data.batch(std::span(sample).subspan(i, 1), 0), parameters))
      body(name, dense_on(tensor, cpu()));
  }
}

}  // namespace hone
