// Code as it is embedded: a form that the admission rule let through, and nothing else.
#pragma once

#include <optional>
#include <string>

#include "engine/admit.h"
#include "exec/native/native_code.h"

namespace frazil::aot {

class Code {
 public:
  Code() = default;  // there is none
  explicit Code(const engine::Admitted& admitted);
  // Of sealed bytes that were readmitted and had been admitted before: units keep nothing else.
  static Result<Code> Open(std::string_view sealed, const verify::InstallKey& key,
                           const verify::Expected& expected);
  std::string Seal(const verify::InstallKey& key) const;

  bool empty() const { return !form_; }
  const exec::CompiledForm& form() const { return **form_; }
  // That it does what its candidate says; none where there is no code.
  const verify::Evidence& evidence() const;
  const std::string& bytes() const;  // the payload; empty where there is none
  const exec::NativeImage& image() const { return image_; }  // of native code

 private:
  explicit Code(verify::Verified<exec::CompiledForm> form);
  std::optional<verify::Verified<exec::CompiledForm>> form_;
  exec::NativeImage image_;
};

}  // namespace frazil::aot
