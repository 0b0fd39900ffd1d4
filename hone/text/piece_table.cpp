#include "hone/text/piece_table.h"

#include <algorithm>
#include <utility>

namespace hone {

void PieceTable::insert(std::string_view piece, std::int32_t id) {
  if (++count_ * 2 > slots_.size()) {
    const std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(16, slots_.size() * 2)));
    for (const Slot& slot : old) {
      if (slot.id >= 0) place(slot);
    }
  }
  longest_ = std::max(longest_, piece.size());
  place({hash_of(piece).value, static_cast<std::uint32_t>(text_.size()),
         static_cast<std::uint32_t>(piece.size()), id});
  text_ += piece;
}

void PieceTable::place(const Slot& slot) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = slot_of(slot.hash) & mask;
  while (slots_[at].id >= 0) at = (at + 1) & mask;
  slots_[at] = slot;
}

}  // namespace hone
