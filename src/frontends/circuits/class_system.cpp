// Classes as triples: every transform is one addition or one exchange, so that a test can try all of them.
#include "frontends/circuits/class_system.h"

namespace frazil::frontends::circuits {
namespace {

uint8_t Modulo(int64_t value, int64_t modulus) {
  return static_cast<uint8_t>(((value % modulus) + modulus) % modulus);
}

}  // namespace

Transform MakeTransform(int64_t rotate, int64_t twist, bool mirror) {
  return {Modulo(rotate, 4), Modulo(twist, 8), mirror};
}

uint8_t Apply(Transform transform, uint8_t class_index) {
  ClassParts parts = PartsOf(class_index);
  parts.scope = Modulo(parts.scope + transform.rotate, 4);
  parts.context = Modulo(parts.context + transform.twist, 8);
  if (transform.mirror && parts.modality != 0)
    parts.modality = static_cast<uint8_t>(3 - parts.modality);
  return ClassOf(parts);
}

Transform Compose(Transform first, Transform second) {
  return {Modulo(first.rotate + second.rotate, 4), Modulo(first.twist + second.twist, 8),
          first.mirror != second.mirror};
}

uint8_t ApplyScope(uint8_t scope, uint8_t class_index) {
  ClassParts parts = PartsOf(class_index);
  parts.scope = Modulo(parts.scope + scope / 4, 4);
  parts.modality = Modulo(parts.modality + scope % 4, 3);
  return ClassOf(parts);
}

uint8_t ClassOfByte(uint8_t byte) {
  const bool produce = (byte >> 4 & 1) != 0, consume = (byte >> 5 & 1) != 0;
  const uint8_t modality = produce == consume ? 0 : produce ? 1 : 2;
  return ClassOf({static_cast<uint8_t>(byte >> 6), modality, static_cast<uint8_t>(byte >> 1 & 7)});
}

uint8_t CanonicalByte(uint8_t class_index) {
  const ClassParts parts = PartsOf(class_index);
  const int modality = parts.modality == 1 ? 0x10 : parts.modality == 2 ? 0x20 : 0;
  return static_cast<uint8_t>(parts.scope << 6 | modality | parts.context << 1);
}

uint32_t BeltAddress(uint8_t page, uint8_t byte) { return uint32_t{page} * PageBytes + byte; }

uint32_t PhiAddress(uint8_t class_index, uint8_t page, uint8_t byte) {
  return class_index * ClassBytes + BeltAddress(page, byte);
}

}  // namespace frazil::frontends::circuits
