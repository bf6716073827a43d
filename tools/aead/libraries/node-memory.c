/* What lends Node the referee's memory: an addon whose `map(PATH)` is a file as an external ArrayBuffer. */
#include <fcntl.h>
#include <node_api.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static napi_value map(napi_env env, napi_callback_info info)
{
    size_t number = 1, length;
    napi_value path, made = NULL;
    char text[4096];
    struct stat stat;
    napi_get_cb_info(env, info, &number, &path, NULL, NULL);
    napi_get_value_string_utf8(env, path, text, sizeof text, &length);
    int file = open(text, O_RDWR);
    if (file < 0 || fstat(file, &stat) != 0)
        return NULL;
    void *at = mmap(NULL, (size_t)stat.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED || napi_create_external_arraybuffer(env, at, (size_t)stat.st_size, NULL, NULL, &made) != napi_ok)
        return NULL;
    return made;
}

NAPI_MODULE_INIT()
{
    napi_value function;
    napi_create_function(env, "map", NAPI_AUTO_LENGTH, map, NULL, &function);
    napi_set_named_property(env, exports, "map", function);
    return exports;
}
