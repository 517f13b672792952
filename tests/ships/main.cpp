// Nothing: the linker is told to bring everything.
int main() {}
