// Where modules come from: files, then the library that the build put in here (stdlib/trident/**/*.tri).
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "frontends/trident/syntax/lexer.h"
#include "frontends/trident/trident.h"
#include "trident_library.inc"

namespace frazil::frontends::trident {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> ReadFile(const fs::path& path, uint64_t most = UINT64_MAX) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text(std::min<uint64_t>(fs::file_size(path, error), most), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (error || in.bad()) return std::nullopt;
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

// The folder from which a module named a.b.c in the file .../a/b/c.tri is found; nothing if name and place do not fit.
std::optional<fs::path> RootByName(const fs::path& file) {
  constexpr uint64_t BeforeTheName = 1 << 20;  // comments may stand there, a book does not
  const std::optional<std::string> text = ReadFile(file, BeforeTheName);
  if (!text) return std::nullopt;
  const Limits limits;
  Lexer lexer(*text, limits, nullptr, nullptr);
  if (const Tok first = lexer.Next().kind; first != Tok::Module && first != Tok::Program)
    return std::nullopt;
  std::vector<std::string> parts;
  do {
    const Token part = lexer.Next();
    if (part.kind != Tok::Name) return std::nullopt;
    parts.emplace_back(part.text);
  } while (lexer.Next().kind == Tok::Dot);
  fs::path folder = file.parent_path();
  if (file.stem() != parts.back()) return std::nullopt;
  for (size_t i = parts.size() - 1; i-- > 0;) {
    if (folder.filename() != parts[i]) return std::nullopt;
    folder = folder.parent_path();
  }
  return folder;
}

// The nearest folder, from here upward, that a project file marks.
std::optional<fs::path> ProjectRoot(fs::path folder) {
  std::error_code error;
  for (int levels = 0; levels < 64; ++levels) {
    if (fs::exists(folder / "trident.toml", error)) return folder;
    const fs::path parent = folder.parent_path();
    if (parent == folder || parent.empty()) break;
    folder = parent;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> StandardModules() {
  std::vector<std::string> names;
  for (const EmbeddedModule& module : EmbeddedModules) names.emplace_back(module.name);
  return names;
}

Loader DefaultLoader(std::string program_file, std::vector<std::string> search_folders) {
  std::vector<fs::path> folders;
  if (!program_file.empty()) {
    std::error_code error;
    fs::path file = fs::absolute(program_file, error);
    if (error) file = program_file;
    file = file.lexically_normal();
    folders.push_back(file.parent_path());
    if (const auto root = RootByName(file)) folders.push_back(*root);
    if (const auto root = ProjectRoot(file.parent_path())) folders.push_back(*root);
  }
  for (std::string& folder : search_folders) folders.emplace_back(std::move(folder));
  return [folders](std::string_view name) -> std::optional<Source> {
    fs::path relative;
    for (size_t at = 0; at <= name.size();) {
      const size_t dot = std::min(name.find('.', at), name.size());
      relative /= name.substr(at, dot - at);
      at = dot + 1;
    }
    relative += ".tri";
    for (const fs::path& folder : folders) {
      if (auto text = ReadFile(folder / relative))
        return Source{(folder / relative).string(), std::move(*text)};
    }
    for (const EmbeddedModule& module : EmbeddedModules) {
      if (module.name == name) return Source{std::string(module.file), std::string(module.text)};
    }
    return std::nullopt;
  };
}

}  // namespace frazil::frontends::trident
