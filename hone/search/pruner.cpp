#include "hone/search/pruner.h"

namespace hone {
namespace {

class NoPruner : public Pruner {
 public:
  PruneDecision decide(const StudyView&, const Trial&) const override { return {}; }
};

}  // namespace

StudyView Pruner::visible_to(const StudyView& study, std::int64_t) const { return study; }

std::unique_ptr<Pruner> no_pruner() { return std::make_unique<NoPruner>(); }

}  // namespace hone
