// The same from C++, with a key that ends by itself.
#include <fastgcm.h>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static void check(int status) {
    if (status != FASTGCM_OK) throw std::runtime_error(fastgcm_text(status));
}

struct Ends {
    void operator()(fastgcm_key *key) const { fastgcm_key_free(key); }
};

int main() {
    const std::vector<uint8_t> bytes(16, 7), nonce(12, 1);
    fastgcm_key *made = nullptr;
    check(fastgcm_key_new(&made, bytes.data(), bytes.size(), nullptr));
    const std::unique_ptr<fastgcm_key, Ends> key(made);

    const std::string message = "attack at dawn", aad = "to: everyone";
    std::vector<uint8_t> sealed(message.size()), text(message.size()), tag(16);
    const auto in = [](const std::string &string) { return reinterpret_cast<const uint8_t *>(string.data()); };
    check(fastgcm_seal(key.get(), nonce.data(), nonce.size(), in(aad), aad.size(), in(message), message.size(), sealed.data(), tag.data()));
    check(fastgcm_open(key.get(), nonce.data(), nonce.size(), in(aad), aad.size(), sealed.data(), sealed.size(), tag.data(), tag.size(), text.data()));
    if (std::string(text.begin(), text.end()) != message) return 1;
    std::puts("seal.cpp ok");
}
