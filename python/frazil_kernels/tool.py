"""Reads kernel files with Python's own parser and writes JSON schema version 1.0 (python/README.md).

A file is parsed, never imported or executed. Every node carries "loc": [line, column], both from 1, so that whoever
reads the JSON can point into the source. What the schema cannot say is an error with a place and a hint; nothing is
left out silently. This one file is the whole tool: it also travels inside the C++ library as text.

    python3 tool.py in.py [-o out.json]      one kernel: an object; several: an array
    python3 tool.py --lines a.py b.py ...    one line for each text: {"kernels": [...]} or {"errors": [...]}

With --lines no file is opened, the names are for messages only: standard input has each text, behind a line with its
number of bytes. So whoever keeps what comes of a text by its digest knows that it comes of that text.
"""
import ast
import itertools
import json
import math
import sys

VERSION = "1.0"
SCALARS = {
    "int": "i32", "float": "f32", "bool": "bool", "usize": "usize", "index": "usize",
    "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64",
    "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64",
}
BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Mod: "mod", ast.FloorDiv: "floor_div",
    ast.Pow: "pow", ast.LShift: "shl", ast.RShift: "shr", ast.BitAnd: "bit_and", ast.BitOr: "bit_or",
    ast.BitXor: "bit_xor",
}
COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
UNARY = {ast.UAdd: "pos", ast.USub: "neg", ast.Not: "not", ast.Invert: "inv"}
MATH_CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
MAX_CONSTANT_BITS = 4096
FOLDS = ("sum", "max", "min")

# What is refused, by node: what to call it, and what to write instead.
REFUSED = {
    "With": ("'with' is not supported", "kernels have no resources to hold"),
    "AsyncWith": ("'async with' is not supported", "kernels have no resources to hold"),
    "AsyncFor": ("'async for' is not supported", "use 'for v in range(...)'"),
    "AsyncFunctionDef": ("'async def' is not supported", "use 'def'"),
    "Try": ("'try' is not supported", "kernels do not raise; a trap ends the whole launch"),
    "TryStar": ("'try' is not supported", "kernels do not raise; a trap ends the whole launch"),
    "Raise": ("'raise' is not supported", "use 'assert condition' to trap"),
    "Match": ("'match' is not supported", "use 'if' and 'elif'"),
    "ClassDef": ("a class inside a kernel is not supported", "use separate variables"),
    "Delete": ("'del' is not supported", "variables end with the kernel"),
    "Import": ("'import' inside a kernel is not supported", "import at the top of the file"),
    "ImportFrom": ("'from ... import' inside a kernel is not supported", "import at the top of the file"),
    "Global": ("'global' is not supported", "pass the value as a parameter, or write to an array"),
    "Nonlocal": ("'nonlocal' is not supported", "return the value from the nested function instead"),
    "Lambda": ("'lambda' is not supported", "write a nested 'def'"),
    "ListComp": ("a list comprehension is not supported", "use a 'for' loop"),
    "SetComp": ("a set comprehension is not supported", "use a 'for' loop"),
    "DictComp": ("a dict comprehension is not supported", "use a 'for' loop"),
    "GeneratorExp": ("a generator expression is only supported in sum(..), max(..) and min(..)", "use a 'for' loop"),
    "List": ("a list is not supported", "use separate variables, an array parameter or shared(type, n)"),
    "Dict": ("a dict is not supported", "use separate variables or an array parameter"),
    "Set": ("a set is not supported", "use separate variables or an array parameter"),
    "Tuple": ("a tuple is only supported in an assignment of as many values", "use separate variables"),
    "JoinedStr": ("a string is not supported", "kernels compute with numbers only"),
    "Yield": ("'yield' is not supported", "write the results to an array"),
    "YieldFrom": ("'yield' is not supported", "write the results to an array"),
    "Await": ("'await' is not supported", "kernels run to their end"),
    "NamedExpr": ("':=' is not supported", "assign in a statement of its own"),
    "Starred": ("'*' unpacking is not supported", "name every value"),
    "Slice": ("a slice is not supported", "use a 'for' loop over the elements"),
    "Attribute": ("attributes are not supported", "only names of an imported module, as in math.pi"),
}


class SourceError(Exception):
    """One mistake in a kernel file."""

    def __init__(self, line, column, message, hint=""):
        super().__init__(message)
        self.line, self.column, self.message, self.hint = line, column, message, hint

    def to_json(self):
        return {"line": self.line, "column": self.column, "message": self.message, "hint": self.hint}


def loc(node):
    return [node.lineno, node.col_offset + 1]


def last_name(node):
    """The name at the end of `a.b.name`, or None."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def is_docstring(statement):
    return (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str))


def is_stub(function):
    """Nothing but a docstring, `pass`, `...` or `raise`: a declaration for editors, not code."""
    for statement in function.body:
        is_ellipsis = (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                       and statement.value.value is ...)
        if not (is_docstring(statement) or is_ellipsis or isinstance(statement, (ast.Pass, ast.Raise))):
            return False
    return True


def own_nodes(function):
    """The nodes of a function without those of the functions and folds inside it (they themselves are included)."""
    queue = list(function.body)
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)):
            queue.extend(ast.iter_child_nodes(node))


def arguments_of(function):
    return function.args.posonlyargs + function.args.args


def locals_of(function):
    names = {argument.arg for argument in arguments_of(function)}
    for node in own_nodes(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    return names


def array_annotation(annotation):
    """The subscript of DeviceArray[...], or None."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    is_array = isinstance(annotation, ast.Subscript) and last_name(annotation.value) == "DeviceArray"
    return annotation.slice if is_array else None


class Module:
    """What a file says at its top level, and the errors found so far."""

    def __init__(self, tree):
        self.errors = []
        self.functions = {}    # name -> FunctionDef; stubs are left to the compiler's own functions
        self.constants = {}    # name -> expression
        self.not_constant = set()
        self.modules = set()   # imported modules
        self.renamed = {}      # from m import a as b: b -> a
        self.type_vars = {}    # T = TypeVar("T", f64, i32): T -> ["f64", "i32"]
        self.callers = {}      # name -> functions that call it
        for statement in tree.body:
            self.add(statement)
        self.find_callers()

    def add(self, statement):
        if isinstance(statement, ast.FunctionDef):
            if statement.name in self.functions:
                self.error(statement, f"'{statement.name}' is defined twice", "rename one of them")
            if not is_stub(statement):
                self.functions[statement.name] = statement
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                self.modules.add(alias.asname or alias.name.split(".")[0])
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                self.renamed[alias.asname or alias.name] = alias.name
        elif isinstance(statement, ast.Assign) and self.is_type_var(statement):
            self.add_type_var(statement)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                self.add_constant(target, statement.value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self.add_constant(statement.target, statement.value)
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            self.not_constant.add(statement.target.id)

    def add_constant(self, target, value):
        if isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for part, part_value in zip(target.elts, value.elts):
                    self.add_constant(part, part_value)
            else:
                self.not_constant.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        elif isinstance(target, ast.Name):
            if target.id in self.constants:
                self.not_constant.add(target.id)
            self.constants[target.id] = value

    def is_type_var(self, statement):
        return isinstance(statement.value, ast.Call) and last_name(statement.value.func) == "TypeVar"

    def add_type_var(self, statement):
        """T = TypeVar("T", f64, i32): a kernel that names T is one kernel for each of the types."""
        names = [last_name(argument) for argument in statement.value.args[1:]]
        types = [self.renamed.get(name, name) for name in names]
        if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name) or statement.value.keywords \
                or not types or any(name not in SCALARS for name in types) or len(set(types)) != len(types):
            self.error(statement, "a type variable has a name and a list of types", 'write T = TypeVar("T", f32, f64)')
        else:
            self.type_vars[statement.targets[0].id] = types

    def error(self, node, message, hint=""):
        self.errors.append(SourceError(node.lineno, node.col_offset + 1, message, hint))

    def find_callers(self):
        for function in self.functions.values():
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    self.callers.setdefault(node.func.id, set()).add(function.name)

    def is_kernel(self, function):
        """By its annotations and its body: it takes an array, promises no value, and nobody here calls it."""
        if any(last_name(decorator) == "inline" for decorator in function.decorator_list):
            return False
        if not any(array_annotation(argument.annotation) is not None for argument in arguments_of(function)):
            return False
        promises_value = function.returns is not None and not (
            isinstance(function.returns, ast.Constant) and function.returns.value is None)
        return not promises_value and not self.callers.get(function.name, set()) - {function.name}

    def kernels(self):
        found = []
        for function in self.functions.values():
            if self.is_kernel(function):
                found += self.read_for_types(function)
        if not found and not self.errors:
            self.errors.append(SourceError(
                1, 1, "there is no kernel in this file",
                "a kernel is a function with a DeviceArray[...] parameter that returns nothing"))
        return found

    def read_for_types(self, function):
        """A kernel, or one for each type of the variables it names: their names end in the type."""
        named = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        variables = [name for name in self.type_vars if name in named]
        kernels = []
        for types in itertools.product(*(self.type_vars[name] for name in variables)):
            self.renamed.update(zip(variables, types))
            kernels.append(KernelReader(self, function, "_".join(("", *types))).read())
            for name in variables:
                del self.renamed[name]
            if self.errors:
                break  # once is enough
        return kernels


def fold(module, node, depth=0):
    """The number that a constant expression is, by Python's own arithmetic; None if it is not one."""
    if depth > 100:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, (bool, int, float)) else None
    if isinstance(node, ast.Name):
        known = node.id in module.constants and node.id not in module.not_constant
        return fold(module, module.constants[node.id], depth + 1) if known else None
    if isinstance(node, ast.Attribute):
        is_module = isinstance(node.value, ast.Name) and node.value.id in module.modules
        return MATH_CONSTANTS.get(node.attr) if is_module else None
    if isinstance(node, ast.UnaryOp):
        value = fold(module, node.operand, depth + 1)
        return None if value is None else fold_unary(node.op, value)
    if isinstance(node, ast.BinOp):
        left = fold(module, node.left, depth + 1)
        right = fold(module, node.right, depth + 1) if left is not None else None
        return None if right is None else fold_binary(node.op, left, right)
    return None


def fold_unary(op, value):
    if isinstance(op, ast.USub):
        return -value
    if isinstance(op, ast.UAdd):
        return +value
    if isinstance(op, ast.Not):
        return not value
    return ~value if isinstance(value, int) and not isinstance(value, bool) else None


def fold_binary(op, left, right):
    ints = isinstance(left, int) and isinstance(right, int)
    too_large = ints and (left.bit_length() > MAX_CONSTANT_BITS or right.bit_length() > MAX_CONSTANT_BITS)
    if isinstance(op, (ast.Pow, ast.LShift)) and ints and not 0 <= right <= MAX_CONSTANT_BITS:
        return None
    if too_large or (isinstance(op, ast.Pow) and ints and left.bit_length() * right > MAX_CONSTANT_BITS):
        return None
    try:
        if isinstance(op, ast.Add):
            return left + right
        if isinstance(op, ast.Sub):
            return left - right
        if isinstance(op, ast.Mult):
            return left * right
        if isinstance(op, ast.Div):
            return left / right
        if isinstance(op, ast.FloorDiv):
            return left // right if ints else None
        if isinstance(op, ast.Mod):
            return left % right if ints else None
        if isinstance(op, ast.Pow):
            value = left ** right
            return None if isinstance(value, complex) else value
        if not ints:
            return None
        if isinstance(op, ast.LShift):
            return left << right
        if isinstance(op, ast.RShift):
            return left >> right
        if isinstance(op, ast.BitAnd):
            return left & right
        return left | right if isinstance(op, ast.BitOr) else left ^ right
    except (ArithmeticError, ValueError):
        return None


def literal(value, place):
    if isinstance(value, float) and not math.isfinite(value):
        value = "nan" if value != value else "inf" if value > 0 else "-inf"
    return {"type": "literal", "value": value, "loc": place}


class KernelReader:
    """One kernel: its parameters, its body, and the functions it calls."""

    def __init__(self, module, function, suffix=""):
        self.module = module
        self.function = function
        self.suffix = suffix    # of its name: the type it is made for
        self.scopes = []
        self.used = {}  # module-level functions that are called: name -> JSON, in order of first use
        self.temporaries = 0
        self.loops = 0

    def error(self, node, message, hint=""):
        self.module.error(node, message, hint)
        return {"type": "literal", "value": 0, "loc": loc(node)}

    def refuse(self, node):
        name = type(node).__name__
        message, hint = REFUSED.get(name, (f"'{name}' is not supported in a kernel", ""))
        return self.error(node, message, hint)

    # --- functions and types ---

    def read(self):
        function = self.function
        self.check_signature(function)
        for decorator in function.decorator_list:
            if last_name(decorator) != "kernel":
                self.error(decorator, "only the decorators @kernel and @inline are known", "remove it")
        self.scopes.append(locals_of(function))
        params = [self.kernel_param(argument) for argument in arguments_of(function)]
        body = self.block(function.body)
        self.scopes.pop()
        kernel = {"name": function.name + self.suffix, "params": params, "body": body, "loc": loc(function)}
        if self.used:
            kernel["functions"] = list(self.used.values())
        doc = ast.get_docstring(function)
        if doc:
            kernel["doc"] = doc
        return {"version": VERSION, "kernel": kernel}

    def check_signature(self, function):
        extra = function.args.vararg or function.args.kwarg
        if extra is not None:
            self.error(extra, "'*' parameters are not supported", "name every parameter")
        for argument in function.args.kwonlyargs:
            self.error(argument, "keyword-only parameters are not supported", "remove the '*'")

    def kernel_param(self, argument):
        if argument.annotation is None:
            self.error(argument, f"parameter '{argument.arg}' has no type", f"write '{argument.arg}: f32'")
            return {"name": argument.arg, "type": {"kind": "scalar", "type": "f32"}, "loc": loc(argument)}
        if self.function.args.defaults:
            self.error(self.function.args.defaults[0], "parameters of a kernel have no default values",
                       "pass every argument at the launch")
            self.function.args.defaults = []
        return {"name": argument.arg, "type": self.type_of(argument.annotation), "loc": loc(argument)}

    def type_of(self, node):
        place = node
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                pass
        scalar = SCALARS.get(self.module.renamed.get(last_name(node), last_name(node)))
        if scalar is not None:
            return {"kind": "scalar", "type": scalar}
        if isinstance(node, ast.Subscript) and last_name(node.value) == "DeviceArray":
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            result = {"kind": "device_array", "element_type": self.type_of(parts[0])}
            dims = parts[1:]
            if len(dims) == 1 and isinstance(dims[0], (ast.Tuple, ast.List)):
                dims = dims[0].elts
            if dims:
                result["shape"] = [self.expr(dim) for dim in dims]
            return result
        shown = ast.unparse(node)
        self.error(place, f"'{shown}' is not a type of kernels",
                   "known: DeviceArray[T], int, float, bool, usize, i8..i64, u8..u64, f16, bf16, f32, f64")
        return {"kind": "scalar", "type": "f32"}

    def inline_function(self, function):
        """A nested function, or one of the module that a kernel calls."""
        self.check_signature(function)
        outer_loops, self.loops = self.loops, 0
        arguments = arguments_of(function)
        defaults = [None] * (len(arguments) - len(function.args.defaults)) + function.args.defaults
        params = []
        for argument, default in zip(arguments, defaults):
            param = {"name": argument.arg, "loc": loc(argument)}
            if argument.annotation is not None:
                param["type"] = self.type_of(argument.annotation)
            if default is not None:
                param["default"] = self.expr(default)
            params.append(param)
        self.scopes.append(locals_of(function))
        body = self.block(function.body)
        self.scopes.pop()
        self.loops = outer_loops
        result = {"name": function.name, "params": params, "body": body, "loc": loc(function)}
        if function.returns is not None and not (
                isinstance(function.returns, ast.Constant) and function.returns.value is None):
            result["returns"] = self.type_of(function.returns)
        return result

    def use(self, name):
        """A module-level function is called: it travels with the kernel."""
        if name in self.used:
            return
        function = self.module.functions[name]
        self.used[name] = None
        scopes, self.scopes = self.scopes, []
        read = self.inline_function(function)
        self.scopes = scopes
        # What a function calls stands before it.
        del self.used[name]
        self.used[name] = read

    def is_local(self, name):
        return any(name in scope for scope in self.scopes)

    # --- statements ---

    def block(self, statements):
        body = []
        for statement in statements:
            self.statement(statement, body)
        return body

    def statement(self, node, out):
        handler = getattr(self, "statement_" + type(node).__name__, None)
        if handler is None:
            self.refuse(node)
        else:
            handler(node, out)

    def statement_Pass(self, node, out):
        pass

    def statement_Expr(self, node, out):
        value = node.value
        if isinstance(value, ast.Constant) and (isinstance(value.value, str) or value.value is ...):
            return
        if isinstance(value, ast.Call):
            out.append({"type": "expr", "value": self.expr(value), "loc": loc(node)})
        elif type(value).__name__ in REFUSED:
            self.refuse(value)
        else:
            self.error(node, "this expression does nothing", "assign it, or remove it")

    def statement_FunctionDef(self, node, out):
        for decorator in node.decorator_list:
            if last_name(decorator) != "inline":
                self.error(decorator, "only the decorators @kernel and @inline are known", "remove it")
        if not is_stub(node):
            out.append({"type": "function", **self.inline_function(node)})

    def statement_Assign(self, node, out):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if isinstance(node.value, ast.Call) and last_name(node.value.func) == "shared" \
                    and not self.is_local("shared"):
                out.append(self.shared(name, node.value))
            else:
                out.append({"type": "let", "name": name, "value": self.expr(node.value), "loc": loc(node)})
        elif len(node.targets) == 1:
            self.assign(node.targets[0], node.value, node, out)
        else:
            value = self.temporary(self.expr(node.value), node, out)
            for target in node.targets:
                self.assign_value(target, value, node, out)

    def temporary(self, value, node, out):
        self.temporaries += 1
        name = f"${self.temporaries}"
        out.append({"type": "let", "name": name, "value": value, "loc": loc(node)})
        return {"type": "var", "name": name, "loc": loc(node)}

    def assign(self, target, value, node, out):
        if not isinstance(target, (ast.Tuple, ast.List)):
            self.assign_value(target, self.expr(value), node, out)
            return
        if not isinstance(value, (ast.Tuple, ast.List)) or len(value.elts) != len(target.elts):
            self.error(node, "an assignment to several variables needs as many values", "write 'a, b = x, y'")
            return
        pairs = []
        self.evaluate_parts(target, value, node, out, pairs)
        for part, part_value in pairs:
            self.assign_value(part, part_value, node, out)

    def evaluate_parts(self, target, value, node, out, pairs):
        """All values first, then all assignments, as Python does it."""
        for part, part_value in zip(target.elts, value.elts):
            if isinstance(part, (ast.Tuple, ast.List)):
                if not isinstance(part_value, (ast.Tuple, ast.List)) or len(part.elts) != len(part_value.elts):
                    self.error(part, "an assignment to several variables needs as many values", "write 'a, b = x, y'")
                    continue
                self.evaluate_parts(part, part_value, node, out, pairs)
            else:
                pairs.append((part, self.temporary(self.expr(part_value), node, out)))

    def assign_value(self, target, value, node, out):
        if isinstance(target, ast.Name):
            out.append({"type": "let", "name": target.id, "value": value, "loc": loc(node)})
        elif isinstance(target, ast.Subscript):
            out.append({"type": "assign", "target": self.expr(target), "value": value, "loc": loc(node)})
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.error(target, "an assignment to several variables needs as many values", "write 'a, b = x, y'")
        else:
            self.refuse(target)

    def statement_AnnAssign(self, node, out):
        if not isinstance(node.target, ast.Name):
            self.error(node, "only a variable can be given a type", "remove the annotation")
            return
        statement = {"type": "let", "name": node.target.id, "declared": self.type_of(node.annotation)}
        if node.value is None:
            statement["type"] = "declare"
        else:
            statement["value"] = self.expr(node.value)
        statement["loc"] = loc(node)
        out.append(statement)

    def statement_AugAssign(self, node, out):
        op = BINARY.get(type(node.op))
        if op is None:
            self.error(node, "'@=' is not supported", "write the loops of the matrix product")
            return
        value = self.expr(node.value)
        if isinstance(node.target, ast.Name):
            old = {"type": "var", "name": node.target.id, "loc": loc(node.target)}
            sum_of = {"type": "binary_op", "op": op, "left": old, "right": value, "loc": loc(node)}
            out.append({"type": "let", "name": node.target.id, "value": sum_of, "loc": loc(node)})
        elif isinstance(node.target, ast.Subscript):
            out.append({"type": "aug_assign", "target": self.expr(node.target), "op": op, "value": value,
                        "loc": loc(node)})
        else:
            self.refuse(node.target)

    def shared(self, name, call):
        if call.keywords or len(call.args) < 2:
            self.error(call, "shared memory needs a type and a constant size", "write 'tile = shared(f32, 256)'")
            return {"type": "shared", "name": name, "element_type": {"kind": "scalar", "type": "f32"}, "shape": [],
                    "loc": loc(call)}
        dims = call.args[1:]
        if len(dims) == 1 and isinstance(dims[0], (ast.Tuple, ast.List)):
            dims = dims[0].elts
        return {"type": "shared", "name": name, "element_type": self.type_of(call.args[0]),
                "shape": [self.expr(dim) for dim in dims], "loc": loc(call)}

    def statement_If(self, node, out):
        condition = self.expr(node.test)
        out.append({"type": "if", "condition": condition, "then_body": self.block(node.body),
                    "else_body": self.block(node.orelse) if node.orelse else None, "loc": loc(node)})

    def statement_For(self, node, out):
        if node.orelse:
            self.error(node.orelse[0], "'else' of a loop is not supported", "set a flag in the loop and test it after")
        is_range = (isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name)
                    and node.iter.func.id == "range" and not self.is_local("range"))
        if not is_range:
            self.error(node.iter, "only 'for v in range(...)' is supported", "loop over the indices: range(n)")
            return
        if not isinstance(node.target, ast.Name):
            self.error(node.target, "the variable of a loop must be a name", "write 'for v in range(...)'")
            return
        if node.iter.keywords or not 1 <= len(node.iter.args) <= 3:
            self.error(node.iter, "range takes one to three arguments", "write range(stop) or range(start, stop, step)")
            return
        bounds = [self.expr(argument) for argument in node.iter.args]
        place = loc(node.iter)
        if len(bounds) == 1:
            bounds.insert(0, literal(0, place))
        if len(bounds) == 2:
            bounds.append(literal(1, place))
        self.loops += 1
        body = self.block(node.body)
        self.loops -= 1
        out.append({"type": "for", "var": node.target.id, "start": bounds[0], "stop": bounds[1], "step": bounds[2],
                    "body": body, "loc": loc(node)})

    def statement_While(self, node, out):
        if node.orelse:
            self.error(node.orelse[0], "'else' of a loop is not supported", "set a flag in the loop and test it after")
        condition = self.expr(node.test)
        self.loops += 1
        body = self.block(node.body)
        self.loops -= 1
        out.append({"type": "while", "condition": condition, "body": body, "loc": loc(node)})

    def statement_Break(self, node, out):
        out.append({"type": "break", "loc": loc(node)})

    def statement_Continue(self, node, out):
        out.append({"type": "continue", "loc": loc(node)})

    def statement_Return(self, node, out):
        is_none = node.value is None or isinstance(node.value, ast.Constant) and node.value.value is None
        out.append({"type": "return", "value": None if is_none else self.expr(node.value), "loc": loc(node)})

    def statement_Assert(self, node, out):
        out.append({"type": "assert", "condition": self.expr(node.test), "loc": loc(node)})

    # --- expressions ---

    def expr(self, node):
        handler = getattr(self, "expr_" + type(node).__name__, None)
        return self.refuse(node) if handler is None else handler(node)

    def expr_Constant(self, node):
        if isinstance(node.value, (bool, int, float)):
            return literal(node.value, loc(node))
        kind = "None" if node.value is None else "a complex number" if isinstance(node.value, complex) else "a string"
        return self.error(node, f"{kind} is not supported", "kernels compute with numbers and booleans only")

    def expr_Name(self, node):
        if not self.is_local(node.id):
            if node.id in self.module.not_constant:
                return self.error(node, f"'{node.id}' is assigned more than once at the top of the file",
                                  "only constants can be used in kernels")
            if node.id in self.module.constants:
                return self.constant(node)
            name = self.module.renamed.get(node.id, node.id)
            if name in MATH_CONSTANTS and node.id in self.module.renamed:
                return literal(MATH_CONSTANTS[name], loc(node))
        return {"type": "var", "name": node.id, "loc": loc(node)}

    def constant(self, node):
        value = fold(self.module, node)
        if value is not None:
            return literal(value, loc(node))
        expression = self.module.constants.pop(node.id)  # out of the way: it must not name itself
        if isinstance(expression, (ast.Call, ast.UnaryOp, ast.BinOp, ast.IfExp)):
            result = self.expr(expression)
        else:
            result = self.error(node, f"'{node.id}' is not a number", "only constant numbers can be used in kernels")
        self.module.constants[node.id] = expression
        return result

    def expr_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in self.module.modules \
                and node.attr in MATH_CONSTANTS and not self.is_local(node.value.id):
            return literal(MATH_CONSTANTS[node.attr], loc(node))
        return self.refuse(node)

    def expr_BinOp(self, node):
        op = BINARY.get(type(node.op))
        if op is None:
            return self.error(node, "'@' is not supported", "write the loops of the matrix product")
        return {"type": "binary_op", "op": op, "left": self.expr(node.left), "right": self.expr(node.right),
                "loc": loc(node)}

    def expr_BoolOp(self, node):
        op = "and" if isinstance(node.op, ast.And) else "or"
        result = self.expr(node.values[0])
        for value in node.values[1:]:
            result = {"type": "binary_op", "op": op, "left": result, "right": self.expr(value), "loc": loc(node)}
        return result

    def expr_UnaryOp(self, node):
        return {"type": "unary_op", "op": UNARY[type(node.op)], "operand": self.expr(node.operand), "loc": loc(node)}

    def expr_Compare(self, node):
        ops = []
        for op in node.ops:
            name = COMPARE.get(type(op))
            if name is None:
                is_identity = isinstance(op, (ast.Is, ast.IsNot))
                return self.error(node, "'is' is not supported" if is_identity else "'in' is not supported",
                                  "use '=='" if is_identity else "use a loop that compares")
            ops.append(name)
        if len(ops) == 1:
            return {"type": "binary_op", "op": ops[0], "left": self.expr(node.left),
                    "right": self.expr(node.comparators[0]), "loc": loc(node)}
        operands = [self.expr(node.left)] + [self.expr(value) for value in node.comparators]
        return {"type": "compare", "ops": ops, "operands": operands, "loc": loc(node)}

    def expr_IfExp(self, node):
        return {"type": "if_expr", "condition": self.expr(node.test), "then": self.expr(node.body),
                "else": self.expr(node.orelse), "loc": loc(node)}

    def expr_Subscript(self, node):
        indices = []
        base = node
        while isinstance(base, ast.Subscript):  # a[i][j] is a[i, j]
            parts = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            indices = list(parts) + indices
            base = base.value
        if not isinstance(base, ast.Name):
            return self.error(node, "only a parameter or shared memory can be indexed", "")
        array = {"type": "var", "name": base.id, "loc": loc(base)}
        values = [self.expr(index) for index in indices]
        if len(values) == 1:
            return {"type": "index", "array": array, "index": values[0], "loc": loc(node)}
        return {"type": "index", "array": array, "indices": values, "loc": loc(node)}

    def expr_Call(self, node):
        name = self.callee(node.func)
        if name is None:
            return self.error(node, "only named functions can be called", "methods are not supported")
        if name == "float" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant) \
                and isinstance(node.args[0].value, str):
            return self.float_text(node)
        if node.args and isinstance(node.args[0], ast.GeneratorExp) and self.is_fold(node.func):
            return self.fold_range(node, name)
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                return self.refuse(argument)
        result = {"type": "call", "function": name}
        arguments = node.args
        if name == "bitcast" and len(arguments) == 2 and not self.is_local(name):
            result["to"] = self.type_of(arguments[0])
            arguments = arguments[1:]
        result["args"] = [self.expr(argument) for argument in arguments]
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                return self.error(node, "'**' arguments are not supported", "name every argument")
            keywords[keyword.arg] = self.expr(keyword.value)
        if keywords:
            result["keywords"] = keywords
        result["loc"] = loc(node)
        return result

    def is_fold(self, node):
        return (isinstance(node, ast.Name) and node.id in FOLDS and not self.is_local(node.id)
                and node.id not in self.module.functions and self.module.renamed.get(node.id, node.id) == node.id)

    def fold_range(self, node, name):
        """sum(e for v in range(..)): a fold in the defined tree."""
        generator = node.args[0]
        if len(node.args) > 1 or node.keywords:
            extra = node.args[1] if len(node.args) > 1 else node.keywords[0].value
            hint = "add it to the sum" if name == "sum" else f"write {name}(x, {name}(.. for v in range(..)))"
            return self.error(extra, f"'{name}' of a range takes nothing else", hint)
        if len(generator.generators) != 1:
            return self.error(generator.generators[1].target, f"'{name}' takes one 'for'",
                              f"put one {name}(..) into the other")
        part = generator.generators[0]
        if part.ifs:
            other = "0" if name == "sum" else "x"
            return self.error(part.ifs[0], f"'if' in '{name}' is not supported", f"choose the element: e if c else {other}")
        is_range = (isinstance(part.iter, ast.Call) and isinstance(part.iter.func, ast.Name)
                    and part.iter.func.id == "range" and not self.is_local("range") and not part.is_async)
        if not is_range:
            return self.error(part.iter, f"'{name}' is only of 'for v in range(..)'", "fold over the indices: range(n)")
        if not isinstance(part.target, ast.Name):
            return self.error(part.target, "the variable of a fold must be a name", "write 'for v in range(..)'")
        if part.iter.keywords or not 1 <= len(part.iter.args) <= 2:
            return self.error(part.iter, f"the range of '{name}' takes one or two arguments",
                              "compute the index from it: a[v * step]")
        bounds = [self.expr(argument) for argument in part.iter.args]
        if len(bounds) == 1:
            bounds.insert(0, literal(0, loc(part.iter)))
        self.scopes.append({part.target.id})
        value = self.expr(generator.elt)
        self.scopes.pop()
        return {"type": "fold", "kind": name, "var": part.target.id, "start": bounds[0], "stop": bounds[1],
                "value": value, "loc": loc(node)}

    def callee(self, node):
        if isinstance(node, ast.Name):
            if self.is_local(node.id):
                return node.id
            if node.id in self.module.functions:
                self.use(node.id)
                return node.id
            return self.module.renamed.get(node.id, node.id)
        is_module = (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
                     and node.value.id in self.module.modules and not self.is_local(node.value.id))
        return node.attr if is_module else None

    def float_text(self, node):
        try:
            return literal(float(node.args[0].value), loc(node))
        except ValueError:
            return self.error(node, "this text is not a number", "write float('inf') or a number")


def read_text(text, name="<text>"):
    """The kernels of a source text, and its errors; one of the two lists is empty."""
    if isinstance(text, bytes) and text.count(b"\0") >= 4:
        return [], [SourceError(1, 1, "this is a binary file, not Python source", "give the .py file")]
    try:
        tree = ast.parse(text, name)
    except SyntaxError as error:
        message = f"Python does not accept this: {error.msg}"
        return [], [SourceError(error.lineno or 1, error.offset or 1, message)]
    except ValueError as error:
        return [], [SourceError(1, 1, f"Python does not accept this: {error}")]
    except (RecursionError, MemoryError):
        return [], [SourceError(1, 1, "the source is nested too deeply", "split the expression")]
    module = Module(tree)
    try:
        kernels = module.kernels()
    except RecursionError:
        return [], [SourceError(1, 1, "the source is nested too deeply", "split the expression")]
    if module.errors:
        return [], sorted(module.errors, key=lambda error: (error.line, error.column))
    return kernels, []


def read_file(path):
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        return [], [SourceError(0, 0, f"cannot be read: {error.strerror}")]
    return read_text(text, path)


def to_json(kernels):
    return json.dumps(kernels[0] if len(kernels) == 1 else kernels, separators=(",", ":"))


def print_lines(paths):
    for path in paths:
        size = int(sys.stdin.buffer.readline())
        kernels, errors = read_text(sys.stdin.buffer.read(size), path)
        answer = {"errors": [error.to_json() for error in errors]} if errors else {"kernels": kernels}
        sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
    return 0


def main(arguments):
    if arguments and arguments[0] == "--lines":
        return print_lines(arguments[1:])
    output = None
    if len(arguments) == 3 and arguments[1] == "-o":
        output = arguments.pop()
        arguments.pop()
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write("usage: python3 -m frazil_kernels in.py [-o out.json]\n")
        return 2
    kernels, errors = read_file(arguments[0])
    for error in errors:
        place = f"{arguments[0]}:{error.line}:{error.column}" if error.line else arguments[0]
        hint = f" ({error.hint})" if error.hint else ""
        sys.stderr.write(f"{place}: error FRZ1001: {error.message}{hint}\n")
    if errors:
        return 1
    text = to_json(kernels) + "\n"
    if output is None:
        sys.stdout.write(text)
        return 0
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
