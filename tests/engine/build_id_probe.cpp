// A program whose flags differ (engine_trust_test.cpp).
int main() { return FRAZIL_PROBE; }
