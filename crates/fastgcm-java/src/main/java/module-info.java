/** AES-GCM of fastgcm for Java: a provider of JCA. */
module io.github.fastgcm {
    exports io.github.fastgcm;

    provides java.security.Provider with
            io.github.fastgcm.Fastgcm;
}
