# fill_store.sh FRAZIL STORE FILE: calls the program until the store holds a verified form of it. A busy machine may need
# more than one go.
export FRAZIL_STORE=$2
entries() { "$1" store ls | tail -1 | cut -d' ' -f1; }
before=$(entries "$1")
for _ in 1 2 3 4 5 6 7 8 9 10; do
  "$1" loop "$3" --hot-calls 10 > /dev/null || exit 1
  [ "$(entries "$1")" -gt "$before" ] && exit 0
done
echo "no form of $3 came into the store" >&2
exit 1
