// Eisner's algorithm, first order, any number of roots: the yardstick for zerogap.oracles.eisner.
//
//   g++ -O3 -march=native -shared -fPIC eisner.cpp -o eisner.so
//
// Rows are filled from the last word to the first, so that every inner loop runs over contiguous rows and is an
// element-wise maximum, which the compiler vectorises. `decode_all` loops over the instances here: no call overhead.

#include <cstddef>
#include <limits>
#include <vector>

namespace {

struct Charts {
    std::vector<double> right, left, open_right, open_left, join;
    explicit Charts(std::size_t size)
        : right(size * size), left(size * size), open_right(size * size), open_left(size * size), join(size) {}
};

inline void push(double* __restrict out, const double* __restrict row, double added, std::size_t from, std::size_t to) {
    for (std::size_t j = from; j < to; ++j) {
        const double candidate = added + row[j];
        out[j] = candidate > out[j] ? candidate : out[j];
    }
}

double decode(const double* scores, std::size_t n, bool single_root, Charts& charts, long long* heads) {
    const double minus_infinity = -std::numeric_limits<double>::infinity();
    const std::size_t size = n + 1;
    double *right = charts.right.data(), *left = charts.left.data();
    double *open_right = charts.open_right.data(), *open_left = charts.open_left.data(), *join = charts.join.data();
    for (std::size_t i = size; i-- > (single_root ? 1 : 0);) {
        double *right_i = right + i * size, *left_i = left + i * size;
        double *open_right_i = open_right + i * size, *open_left_i = open_left + i * size;
        for (std::size_t j = i + 1; j < size; ++j) join[j] = right_i[j] = left_i[j] = minus_infinity;
        right_i[i] = left_i[i] = 0.0;
        if (i < n) push(join, left + (i + 1) * size, 0.0, i + 1, size);
        for (std::size_t p = i + 1; p < size; ++p) {
            open_right_i[p] = join[p] + scores[i * size + p];
            open_left_i[p] = join[p] + scores[p * size + i];
            right_i[p] = open_right_i[p] > right_i[p] ? open_right_i[p] : right_i[p];
            left_i[p] = open_left_i[p] > left_i[p] ? open_left_i[p] : left_i[p];
            if (p + 1 < size) push(join, left + (p + 1) * size, right_i[p], p + 1, size);
            push(right_i, right + p * size, open_right_i[p], p + 1, size);
            push(left_i, open_left + p * size, left_i[p], p + 1, size);
        }
    }
    // The way back: (type, i, j) with type 0 right, 1 left, 2 open right, 3 open left.
    struct Item { int type; std::size_t i, j; };
    std::vector<Item> stack;
    double best = n == 0 ? 0.0 : minus_infinity;
    if (single_root) {
        std::size_t root = 0;
        for (std::size_t r = 1; r <= n; ++r) {
            const double total = left[size + r] + scores[r] + right[r * size + n];
            if (total > best) best = total, root = r;
        }
        if (root == 0) return best;
        heads[root - 1] = 0;
        stack.push_back({1, 1, root});
        stack.push_back({0, root, n});
    } else {
        best = right[n];
        if (best == minus_infinity) return best;
        stack.push_back({0, 0, n});
    }
    while (!stack.empty()) {
        const Item item = stack.back();
        const std::size_t i = item.i, j = item.j;
        stack.pop_back();
        if (i == j) continue;
        std::size_t split = i;
        double most = minus_infinity;
        if (item.type == 0) {
            for (std::size_t m = i + 1; m <= j; ++m) {
                const double total = open_right[i * size + m] + right[m * size + j];
                if (total > most) most = total, split = m;
            }
            stack.push_back({2, i, split});
            stack.push_back({0, split, j});
        } else if (item.type == 1) {
            for (std::size_t m = i; m < j; ++m) {
                const double total = left[i * size + m] + open_left[m * size + j];
                if (total > most) most = total, split = m;
            }
            stack.push_back({1, i, split});
            stack.push_back({3, split, j});
        } else {
            for (std::size_t r = i; r < j; ++r) {
                const double total = right[i * size + r] + left[(r + 1) * size + j];
                if (total > most) most = total, split = r;
            }
            if (item.type == 2) heads[j - 1] = static_cast<long long>(i);
            else heads[i - 1] = static_cast<long long>(j);
            stack.push_back({0, i, split});
            stack.push_back({1, split + 1, j});
        }
    }
    return best;
}

}  // namespace

extern "C" void decode_all(const double* scores, long long instances, long long n, int single_root, double* best, long long* heads) {
    const std::size_t size = static_cast<std::size_t>(n) + 1;
    Charts charts(size);
    for (long long k = 0; k < instances; ++k) {
        best[k] = decode(scores + k * size * size, static_cast<std::size_t>(n), single_root != 0, charts, heads + k * n);
    }
}
