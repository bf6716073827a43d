package io.github.fastgcm;

import static io.github.fastgcm.Tests.KEY;
import static io.github.fastgcm.Tests.check;
import static io.github.fastgcm.Tests.iv;
import static io.github.fastgcm.Tests.theirs;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.ProviderException;
import java.security.Security;
import java.util.Arrays;
import java.util.Random;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;

/**
 * Mapped files: the answers are those of other memory. A file that somebody cuts short is an exception. Then no unverified text is left in what exists of the
 * output, and the cipher goes on. Another Java runs this, because a fault would end it.
 */
final class Mapped {
    private static final int PAGE = 4096;

    private final FileChannel file;
    private final byte[] text;
    private final byte[] sealed;
    private long count;

    private Mapped(FileChannel file, int size) throws Exception {
        this.file = file;
        text = new byte[size];
        new Random(size).nextBytes(text);
        sealed = theirs(iv(1), new byte[0], text);
    }

    static long test(Path folder, int rounds) throws Exception {
        String said = Behaviour.java("-Xmx64m", "--enable-native-access=ALL-UNNAMED", Mapped.class.getName(), folder.toString(), String.valueOf(rounds));
        return Long.parseLong(said.strip().replaceAll("(?s).*\\s", ""));
    }

    public static void main(String[] arguments) throws Exception {
        Security.addProvider(new Fastgcm());
        Path path = Path.of(arguments[0]).resolve("mapped");
        int rounds = Integer.parseInt(arguments[1]);
        long count = 0;
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
            for (int size : new int[] {0, 1, 100, PAGE, 3 * Library.PART + 5}) {
                Mapped mapped = new Mapped(file, size);
                mapped.whole();
                count += mapped.count;
            }
            for (int size : new int[] {3 * PAGE, Library.PART - 32, 1 << 20}) {
                Mapped mapped = new Mapped(file, size);
                for (int cut = 0; cut < size; cut += PAGE + size / 3 / PAGE * PAGE) {
                    mapped.cut(cut);
                }
                count += mapped.count;
            }
            Mapped mapped = new Mapped(file, 1 << 20);
            for (int round = 0; round < rounds; round++) { // compiled code, too
                mapped.cut(PAGE * (round % 200));
                mapped.cutMeanwhile(round);
            }
            count += mapped.count;
            mapped.giant();
        }
        System.out.println(count);
    }

    /** Maps the file, which has these bytes, and zeros behind them. */
    private ByteBuffer map(byte[] bytes, int more) throws Exception {
        file.truncate(0);
        file.write(ByteBuffer.wrap(bytes), 0);
        return file.map(MapMode.READ_WRITE, 0, bytes.length + more);
    }

    private byte[] left(int size) throws Exception {
        ByteBuffer left = ByteBuffer.allocate(size);
        while (left.hasRemaining() && file.read(left, left.position()) > 0) {
            continue;
        }
        return Arrays.copyOf(left.array(), left.position());
    }

    private static Cipher cipher(boolean seals) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
        cipher.init(seals ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, KEY, iv(1));
        return cipher;
    }

    /** As input, as output, in place, and where the output lies over the input; a forgery, too; by all kinds of views. */
    private void whole() throws Exception {
        int size = text.length;
        for (int shift : new int[] {0, 3, -3, 1_000_000, -1_000_000}) {
            boolean isInput = shift < 1_000_000;
            boolean isOutput = shift > -1_000_000;
            for (int kind = 0; kind < 3; kind++) {
                byte[] given = kind == 0 ? text : sealed.clone();
                byte[] right = kind == 0 ? sealed : text;
                if (kind == 2) {
                    given[given.length - 1] ^= 1;
                }
                byte[] padded = new byte[given.length + 10];
                System.arraycopy(given, 0, padded, 10, given.length);
                ByteBuffer mapped = map(padded, 40);
                ByteBuffer from = isInput ? mapped.slice(4, mapped.capacity() - 4).position(6).limit(6 + given.length) : ByteBuffer.wrap(given);
                ByteBuffer to = isOutput ? mapped.duplicate().position(isInput ? 10 + shift : 0) : ByteBuffer.allocate(right.length);
                byte[] before = new byte[size];
                to.duplicate().get(before);
                ByteBuffer at = to.duplicate();
                try {
                    check(cipher(kind == 0).doFinal(isOutput ? from : from.asReadOnlyBuffer(), to) == right.length && kind < 2, "size");
                    check(at.limit(to.position()).equals(ByteBuffer.wrap(right)), "another answer: kind " + kind + ", size " + size + ", " + shift);
                } catch (AEADBadTagException thrown) {
                    check(kind == 2, "an authentic message is refused");
                    for (byte was : before) {
                        byte now = at.get();
                        check(now == was || now == 0, "a forgery has left text");
                    }
                }
                count++;
            }
        }
    }

    /** The file ends at `end` when a call begins. */
    private void cut(int end) throws Exception {
        int size = text.length;
        for (int role = 0; role < 3; role++) { // input, output, both
            for (int kind = 0; kind < 3; kind++) { // sealed, opened, refused if it were whole
                byte[] given = kind == 0 ? text : sealed.clone();
                if (kind == 2) {
                    given[given.length - 1] ^= 1;
                }
                ByteBuffer mapped = map(role == 1 ? new byte[0] : given, role == 1 ? size + 16 : 16);
                byte[] before = left(size);
                ByteBuffer from = role == 1 ? ByteBuffer.wrap(given) : mapped.duplicate().limit(given.length);
                ByteBuffer to = role == 0 ? ByteBuffer.allocate(size + 16) : mapped;
                file.truncate(end);
                Cipher cipher = cipher(kind == 0);
                String said = "role " + role + ", kind " + kind + ", " + end + " of " + size;
                try {
                    cipher.doFinal(from, to);
                    check(false, said + ": no exception");
                } catch (AEADBadTagException right) {
                    check(role == 1 && kind == 2, said + ": " + right);
                } catch (ProviderException right) {
                    check(right.getMessage().contains("cut short") && right.getCause() instanceof InternalError, said + ": " + right);
                }
                check(from.position() == 0 && to.position() == 0, said + ": a position has moved");
                byte[] left = role == 0 ? to.array() : left(size);
                for (int at = 0; kind > 0 && at < Math.min(left.length, size); at++) {
                    byte was = role == 2 ? before[at] : 0;
                    check(left[at] == was || left[at] == 0, said + ": unverified text is left at " + at);
                }
                goesOn(cipher, kind == 0);
            }
        }
        ByteBuffer aad = map(text, 0);
        file.truncate(end);
        Cipher cipher = cipher(true);
        try {
            cipher.updateAAD(aad);
            check(false, "AAD: no exception");
        } catch (ProviderException right) {
            check(aad.position() == 0, "AAD: a position has moved");
        }
        check(Arrays.equals(cipher.doFinal(text), sealed), "AAD: nothing has been taken");
    }

    /** The file is cut while a call runs. */
    private void cutMeanwhile(int round) throws Exception {
        boolean seals = round % 2 == 0;
        byte[] given = seals ? text : sealed;
        ByteBuffer mapped = map(given, 16);
        Thread other = new Thread(() -> {
            long end = System.nanoTime() + 10_000L * (round % 30);
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            try {
                file.truncate(PAGE);
            } catch (java.io.IOException thrown) {
                throw new AssertionError(thrown);
            }
        });
        Cipher cipher = cipher(seals);
        ByteBuffer from = mapped.duplicate().limit(given.length);
        other.start();
        boolean isDone = false;
        try {
            cipher.doFinal(from, round % 4 < 2 ? mapped : ByteBuffer.allocate(given.length + 16));
            isDone = true;
        } catch (ProviderException | AEADBadTagException right) {
            check(from.position() == 0, "a position has moved");
        }
        other.join();
        if (!isDone) {
            byte[] left = left(PAGE);
            for (int at = 0; !seals && at < left.length; at++) {
                check(left[at] == given[at] || left[at] == 0, "unverified text is left");
            }
            goesOn(cipher, seals);
        }
    }

    private void goesOn(Cipher cipher, boolean seals) throws Exception {
        if (seals) {
            cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(2));
            cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(1));
        }
        check(Arrays.equals(cipher.doFinal(seals ? text : sealed), seals ? sealed : text), "the next message");
        count++;
    }

    /** A file that is larger than Java's heap. */
    private void giant() throws Exception {
        int size = 100 << 20;
        ByteBuffer mapped = map(new byte[0], size + 16);
        check(cipher(true).doFinal(mapped.duplicate().limit(size), mapped.duplicate()) == size + 16, "size");
        check(mapped.get(size) != 0, "a tag");
        check(cipher(false).doFinal(mapped.duplicate(), mapped.duplicate()) == size, "size");
        for (int at = 0; at < size; at += 97) {
            check(mapped.get(at) == 0, "another text");
        }
    }
}
