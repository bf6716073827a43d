/* Calls of the Python wheel that are proved: `wheel.py` loads this into Python, and Python's own C functions call the methods of `fastgcm`, as its
 * interpreter does. */
#include <Python.h>
#include "call.h"

static const char told[] = "verb;nothing;Gcm Seals Read Zeros 16;[];[]\n"
                           "verb;AESGCM.encrypt;Gcm Seals Behind Zeros 16 heap;[];[]\n"
                           "verb;AESGCM.decrypt;Gcm Opens Behind AsItWas 16 heap;[];[]\n"
                           "verb;AESGCM.encrypt_into;Gcm Seals Behind Zeros 16 heap;[];[]\n"
                           "verb;AESGCM.decrypt_into;Gcm Opens Behind Zeros 16 heap;[];[]\n"
                           "verb;AESGCMSIV.encrypt;Siv Seals Behind Zeros 16 heap;[16, 32];[12]\n"
                           "verb;AESGCMSIV.decrypt;Siv Opens Behind AsItWas 16 heap;[16, 32];[12]\n"
                           "verb;XAES256GCM.encrypt;Xaes Seals Behind Zeros 16 heap;[32];[24]\n"
                           "verb;XAES256GCM.decrypt;Xaes Opens Behind AsItWas 16 heap;[32];[24]\n"
                           "verb;KCXAES256GCM.encrypt;KcXaes Seals Behind Zeros 48 heap;[32];[24]\n"
                           "verb;KCXAES256GCM.decrypt;KcXaes Opens Behind AsItWas 48 heap;[32];[24]\n" GCM_PROVE_ROWS;

/* `fastgcm.AESGCM`, `AESGCMSIV`, `XAES256GCM`, `KCXAES256GCM`; names of their methods; `fastgcm.InvalidTag`, `fastgcm.cpu`. */
static PyObject *classes[4], *methods[4], *invalid_tag, *cpu;

/* `bytes` of these bytes. */
static PyObject *of(const bytes *these) {
    PyObject *new = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)these->size);
    if (new) memcpy(PyBytes_AS_STRING(new), these->at, these->size);
    return new;
}

/* The stack that the call uses is all zero before: the C library's `strlen` looks at bytes behind a string, and what nobody knows decides nothing. */
__attribute__((noinline)) static void clear_stack(void) {
    char below[1 << 15];
    memset(below, 0, sizeof below);
    __asm__ volatile("" : : "r"(below) : "memory");
}

__attribute__((noinline)) static uint64_t perform(const call *c) {
    if (c->verb == 0) return 0;
    clear_stack();
    /* CPUID chooses the row: that which the prover means. */
    PyObject *told_cpu = PyObject_CallFunctionObjArgs(cpu, NULL);
    PyObject *row = told_cpu ? PyDict_GetItemString(told_cpu, "backend") : NULL;
    if (!row || PyUnicode_CompareWithASCIIString(row, rows[c->row])) return 2;
    PyObject *key = of(&c->key), *nonce = of(&c->nonce), *data = of(&c->from), *aad = of(&c->aad), *to = NULL;
    PyObject *aead = PyObject_CallFunctionObjArgs(classes[c->verb < 5 ? 0 : (c->verb - 3) / 2], key, NULL);
    if (c->verb == 3 || c->verb == 4) to = PyMemoryView_FromMemory((char *)c->to.at, (Py_ssize_t)c->to.size, PyBUF_WRITE);
    PyObject *method = methods[to ? c->verb - 1 : (c->verb - 1) % 2];
    PyObject *done = PyObject_CallMethodObjArgs(aead, method, nonce, data, aad, to, NULL);
    if (!done) return PyErr_ExceptionMatches(invalid_tag) ? 1 : 2;
    if (!to && (!PyBytes_Check(done) || (size_t)PyBytes_GET_SIZE(done) != c->to.size)) return 2;
    if (!to) memcpy(c->to.at, PyBytes_AS_STRING(done), c->to.size);
    return 0;
}

/* What `wheel.py` calls. */
uint64_t prove(PyObject *fastgcm) {
    static const char *const names[][4] = {{"AESGCM", "AESGCMSIV", "XAES256GCM", "KCXAES256GCM"},
                                             {"encrypt", "decrypt", "encrypt_into", "decrypt_into"}};
    for (size_t i = 0; i < 4; i++) classes[i] = PyObject_GetAttrString(fastgcm, names[0][i]);
    for (size_t i = 0; i < 4; i++) methods[i] = PyUnicode_InternFromString(names[1][i]);
    invalid_tag = PyObject_GetAttrString(fastgcm, "InvalidTag");
    cpu = PyObject_GetAttrString(fastgcm, "cpu");
    /* The allocator has memory by then, so that a call asks the system for none. */
    void *volatile warm = malloc(100000);
    free(warm);
    return proved(told);
}
