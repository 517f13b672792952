#include "sources/trident.h"

namespace frazil::sources {

namespace trident = frontends::trident;

Result<ir::Program> ParseTrident(const std::string& path, std::string_view text,
                                 const TridentOptions& options, TridentNotes& notes) {
  Result<trident::Package> package =
      trident::Load(text, path, trident::DefaultLoader(path, options.search), &notes.errors,
                    options.build.limits);
  if (!package || !notes.errors.empty())
    return std::unexpected(notes.errors.empty() ? package.error() : notes.errors.back());
  Result<trident::Built> built = trident::Build(*package, options.build, &notes.errors);
  if (!built || !notes.errors.empty())
    return std::unexpected(notes.errors.empty() ? built.error() : notes.errors.back());
  notes.warnings = std::move(built->warnings);
  notes.files = std::move(built->files);
  return std::move(built->program);
}

}  // namespace frazil::sources
