#include "aot/code.h"

namespace frazil::aot {

Code::Code(verify::Verified<exec::CompiledForm> form) : form_(std::move(form)) {
  if (this->form().target != "native") return;
  // The judge has read it before.
  if (Result<exec::NativeImage> image = exec::ParseImage(this->form().payload))
    image_ = std::move(*image);
  else
    form_.reset();
}

Code::Code(const engine::Admitted& admitted) : Code(admitted.form()) {}

Result<Code> Code::Open(std::string_view sealed, const verify::InstallKey& key,
                        const verify::Expected& expected) {
  return Code(TRY(verify::Readmit(sealed, key, expected)));
}

std::string Code::Seal(const verify::InstallKey& key) const {
  return empty() ? "" : verify::Seal(*form_, key);
}

const verify::Evidence& Code::evidence() const {
  static const verify::Evidence None;
  return empty() ? None : form_->evidence().lowering;
}

const std::string& Code::bytes() const {
  static const std::string None;
  return empty() ? None : form().payload;
}

}  // namespace frazil::aot
