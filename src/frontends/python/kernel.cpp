// One kernel from JSON to program: the passes in order, each only if nothing was wrong so far.
#include "frontends/python/python.h"

#include <fmt/format.h>

#include "frontends/python/json.h"
#include "frontends/python/passes.h"
#include "frontends/python/read_schema.h"

namespace frazil::frontends::python {

Error Errors::Take() {
  Error first = std::move(list_[0]);
  first.file = file_;
  if (list_.size() == 1) return first;
  if (!first.hint.empty()) first.message += fmt::format(" ({})", first.hint);
  first.hint.clear();
  for (size_t i = 1; i < list_.size(); ++i) {
    list_[i].file = file_;
    first.message += "\n" + list_[i].ToString();
  }
  return first;
}

namespace {

Result<Kernel> ParseKernel(const JsonTree& json, const JsonNode& node, const Limits& limits,
                           std::string_view file) {
  KernelTree tree;
  Errors errors(file);
  ReadKernel(json, node, limits, tree, errors);
  if (!errors.any()) CheckAssigned(tree, errors);
  if (!errors.any()) FlattenJumps(tree, errors);
  if (!errors.any()) {
    FoldConstants(tree);
    InferTypes(tree, errors);
  }
  if (errors.any()) return std::unexpected(errors.Take());
  Result<ir::Program> program = EmitKernel(tree, errors, limits);
  if (!program) {
    program.error().file = file;
    return std::unexpected(std::move(program.error()));
  }
  return Kernel{std::move(tree.name), std::move(*program), std::move(tree.doc), tree.location};
}

}  // namespace

Result<std::vector<Kernel>> ParseJson(std::string_view text, std::string_view file_name,
                                      const Limits& limits) {
  auto located = [&](Error error) {
    if (error.file.empty()) error.file = file_name;
    return std::unexpected(std::move(error));
  };
  Result<JsonTree> json = JsonTree::Parse(text, limits);
  if (!json) return located(std::move(json.error()));
  std::vector<const JsonNode*> documents;
  const JsonNode& root = json->root();
  if (root.is(JsonKind::Array)) {
    for (const JsonNode& child : JsonChildren(root)) documents.push_back(&child);
  } else {
    documents.push_back(&root);
  }
  std::vector<Kernel> kernels;
  for (const JsonNode* document : documents) {
    const JsonNode* version = document->Find("version");
    if (version != nullptr && version->text != "1.0")
      return located({Diag::BadJson,
                      fmt::format("version '{}' is not known", version->text),
                      json->LocationOf(*version),
                      {},
                      "this reads version 1.0"});
    const JsonNode* kernel = document->Find("kernel");
    if (kernel == nullptr && document->Find("body") != nullptr) kernel = document;
    if (kernel == nullptr || !kernel->is(JsonKind::Object))
      return located(
          {Diag::BadJson, "there is no \"kernel\" here", json->LocationOf(*document), {}, {}});
    kernels.push_back(TRY(ParseKernel(*json, *kernel, limits, file_name)));
  }
  if (kernels.empty()) return located({Diag::BadJson, "there is no kernel here", {1, 1}, {}, {}});
  return kernels;
}

}  // namespace frazil::frontends::python
