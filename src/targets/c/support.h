// The C code that generated functions call: written out only where a program needs it, each piece under
// an include guard of its own, so that generated headers may meet in one translation unit in any order.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"

namespace frazil::targets::c {

// A piece of support code. In `text` and `needs` these stand for the piece's argument:
//   $t  tag (i32)      $T  C type        $U  unsigned C type of the same width   $A  arithmetic type
//   $D  C type of twice the width        $W  width in bits                       $K  the number k
//   $N $X  least and greatest value      $L $H  the float at and beyond these     $a $i $q  masks of float bits
// `needs` names other pieces, separated by blanks: "bits:f32" is the piece `bits` with the argument f32.
struct Piece {
  const char* name;
  const char* needs;
  const char* text;
};

std::span<const Piece> RunPieces();
std::span<const Piece> IntegerPieces();
std::span<const Piece> FloatPieces();
std::span<const Piece> FieldPieces();
std::span<const Piece> WidePieces();

class Support {
 public:
  // Asks for a piece, and gives the name of its function: "frz_min_i32".
  std::string Use(std::string_view piece);
  std::string Use(std::string_view piece, ir::Type argument);
  std::string Use(std::string_view piece, std::string_view tag);
  // Asks for the struct that a type needs, if any.
  void UseType(ir::Type scalar);

  // Everything that was asked for, and what it needs, in an order that compiles. With `floats` the
  // guards against flags that change float arithmetic come first.
  std::string Text() const;
  bool uses_floats() const { return uses_floats_; }
  void UseFloats() { uses_floats_ = true; }

 private:
  void Add(const std::string& key);

  std::set<std::string> known_;
  std::vector<std::string> order_;  // keys, needs before users
  bool uses_floats_ = false;
};

}  // namespace frazil::targets::c
