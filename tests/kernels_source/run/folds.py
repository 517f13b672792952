# sum, min and max of a range, in the defined tree: lengths around 64 and 4096 are where it changes its form.
def row_sums(x: DeviceArray[f32], out: DeviceArray[f32], n: u32, cols: u32):
    i = get_global_id()
    if i < n:
        out[i] = sum(x[i * cols + j] for j in range(cols))
#: row_sums x=rand(0) out=ones(3) n=3 cols=0
#: row_sums x=rand(3) out=ones(3) n=3 cols=1
#: row_sums x=rand(189) out=ones(3) n=3 cols=63
#: row_sums x=rand(192) out=ones(3) n=3 cols=64
#: row_sums x=rand(195) out=ones(3) n=3 cols=65
#: row_sums x=rand(600) out=ones(3) n=3 cols=200
#: row_sums x=rand(8192) out=ones(2) n=2 cols=4096
#: row_sums x=rand(4100) out=ones(1) n=1 cols=4100
#: row_sums x=rand(20500) out=ones(1) n=1 cols=20500
#: row_sums x=rand(28673) out=ones(1) n=1 cols=28673


def softmax_like(x: DeviceArray[f32], y: DeviceArray[f32], n: u32, cols: u32):
    i = get_global_id()
    if i < n:
        first = i * cols
        greatest = max(x[first + j] for j in range(cols))
        least = min(x[first + j] for j in range(usize(cols)))
        spread = sum((x[first + k] - greatest) * (x[first + k] - least) for k in range(cols))
        for j in range(cols):
            y[first + j] = (x[first + j] - greatest) / spread
#: softmax_like x=rand(150) y=zeros(150) n=3 cols=50
#: softmax_like x=rand(520) y=zeros(520) n=4 cols=130


def empty_extremes(x: DeviceArray[f32], y: DeviceArray[f32], n: u32, stop: i32):
    i = get_global_id()
    if i < n:
        y[2 * i] = max(x[j] for j in range(stop))
        y[2 * i + 1] = min(x[j] for j in range(4, stop))
#: empty_extremes x=rand(8) y=zeros(4) n=2 stop=-3
#: empty_extremes x=rand(8) y=zeros(4) n=2 stop=3
#: empty_extremes x=rand(8) y=zeros(4) n=2 stop=8


def parts(x: DeviceArray[f64], y: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        j = 2.5
        y[i] = sum(x[j] for j in range(i, n)) + sum(x[j] * j for j in range(i)) + j
#: parts x=rand(100) y=zeros(100) n=100


def counts(x: DeviceArray[i32], y: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        y[i] = sum(1 if x[j] < x[i] else 0 for j in range(n)) + sum(x[j] == x[i] for j in range(n))
#: counts x=small(90) y=zeros(90) n=90


def integers(x: DeviceArray[i8], w: DeviceArray[u64], y: DeviceArray[i8], v: DeviceArray[u64], n: u32):
    i = get_global_id()
    if i < n:
        y[i] = sum(x[k] for k in range(usize(i) + 1))
        v[3 * i] = sum(w[k] for k in range(n))
        v[3 * i + 1] = max(w[k] for k in range(i, n))
        v[3 * i + 2] = min(w[k] for k in range(i, n))
#: integers x=rand(70) w=rand(70) y=zeros(70) v=zeros(210) n=70


def nested(x: DeviceArray[f32, (m, n)], w: DeviceArray[f32], y: DeviceArray[f32], m: u32, n: u32):
    def pick(row, column):
        if row < column:
            return x[row, column]
        return -x[row, column]
    i = get_global_id()
    if i < n:
        y[i] = sum(w[r] * max(pick(r, c) + w[i] for c in range(n)) for r in range(m))
#: nested x=rand(35) w=rand(7) y=zeros(7) m=5 n=7


def in_branches(x: DeviceArray[f32], y: DeviceArray[f32], n: u32):
    i = get_global_id()
    if i < n:
        total = 0.0
        for r in range(4):
            if x[i] > 0 and sum(x[j] for j in range(r)) > -10:
                total = total + sum(x[j] * r for j in range(i))
            else:
                total = total - (max(x[j] for j in range(i + 1)) if r > 1 else x[i])
        y[i] = total
#: in_branches x=rand(80) y=zeros(80) n=80


def once(x: DeviceArray[f32], y: DeviceArray[f32], n: u32):
    y[0] = sum(x[j] for j in range(len(x))) / n
#: once x=rand(300) y=zeros(1) n=300 @ once=1
