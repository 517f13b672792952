// From a conversion and its two types to the loop. Included for each instruction set, like the
// loops, without a guard.

#include "exec/batch/batch_loops.h"

namespace frazil::exec::FRAZIL_BATCH_ISA {

template <typename To>
struct CastTo {
  template <typename From>
  auto operator()(From a) const -> decltype(meaning::Cast<To>(a)) {
    return meaning::Cast<To>(a);
  }
};

template <typename To>
struct CastCheckedTo {
  template <typename From>
  auto operator()(From a) const -> decltype(meaning::CastChecked<To>(a)) {
    return meaning::CastChecked<To>(a);
  }
};

// The same width, so the same bytes in memory.
template <typename To>
struct BitcastTo {
  template <typename From>
    requires(sizeof(To) == sizeof(From))
  To operator()(From a) const {
    return std::bit_cast<To>(a);
  }
};

template <template <typename> typename F>
Kernel ChooseConversion(ir::Scalar type, ir::Scalar source) {
  return VisitType(type, [&]<typename To>() -> Kernel {
    return VisitType(source, []<typename From>() -> Kernel {
      if constexpr (std::invocable<F<To>, From>)
        return &Unary<F<To>, From>;
      else
        return nullptr;
    });
  });
}

inline Kernel ChooseConversion(ir::Op op, ir::Scalar type, ir::Scalar source) {
  switch (op) {
    case ir::Op::Cast: return ChooseConversion<CastTo>(type, source);
    case ir::Op::CastChecked: return ChooseConversion<CastCheckedTo>(type, source);
    case ir::Op::Bitcast: return ChooseConversion<BitcastTo>(type, source);
    default: return nullptr;
  }
}

}  // namespace frazil::exec::FRAZIL_BATCH_ISA
