// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.certificate;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Writes the part of DER (X.690) that certificates need. Each function gives one whole element. */
final class Der {
    private static final int BOOLEAN = 0x01;
    private static final int INTEGER = 0x02;
    private static final int BIT_STRING = 0x03;
    private static final int OCTET_STRING = 0x04;
    private static final int OBJECT_IDENTIFIER = 0x06;
    private static final int UTF8_STRING = 0x0c;
    private static final int UTC_TIME = 0x17;
    private static final int GENERALIZED_TIME = 0x18;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int CONTEXT = 0x80;
    private static final int CONSTRUCTED = 0x20;
    private static final int SHORT_LENGTH_MAX = 0x7f;

    /** RFC 5280 4.1.2.5: times of this year and later are no UTCTime. */
    private static final int FIRST_GENERALIZED_YEAR = 2050;

    private static final DateTimeFormatter UTC = DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'", Locale.ROOT);
    private static final DateTimeFormatter GENERALIZED = DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'", Locale.ROOT);

    private Der() {}

    static byte[] sequence(byte[]... elements) {
        return element(SEQUENCE, concatenated(elements));
    }

    static byte[] set(byte[] only) {
        return element(SET, only);
    }

    static byte[] trueValue() {
        return element(BOOLEAN, new byte[] {(byte) 0xff});
    }

    static byte[] integer(BigInteger value) {
        return element(INTEGER, value.toByteArray());
    }

    static byte[] octets(byte[] value) {
        return element(OCTET_STRING, value);
    }

    /** Bits whose number is a multiple of eight. */
    static byte[] bits(byte[] value) {
        return element(BIT_STRING, concatenated(new byte[] {0}, value));
    }

    /**
     * Named bits, without the zero bits at their end, as DER wants it.
     *
     * @param highFirst the bits, bit 0 being the highest; at least one is set
     */
    static byte[] namedBits(int highFirst) {
        return element(BIT_STRING, new byte[] {(byte) Integer.numberOfTrailingZeros(highFirst), (byte) highFirst});
    }

    static byte[] text(String value) {
        return element(UTF8_STRING, value.getBytes(StandardCharsets.UTF_8));
    }

    /** An object identifier in dots. */
    static byte[] oid(String dotted) {
        String[] arcs = dotted.split("\\.", -1);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        arc(out, 40L * Long.parseLong(arcs[0]) + Long.parseLong(arcs[1]));
        for (int i = 2; i < arcs.length; i++) {
            arc(out, Long.parseLong(arcs[i]));
        }
        return element(OBJECT_IDENTIFIER, out.toByteArray());
    }

    /** A time in whole seconds. */
    static byte[] time(Instant instant) {
        ZonedDateTime utc = instant.atZone(ZoneOffset.UTC);
        boolean isUtc = utc.getYear() < FIRST_GENERALIZED_YEAR;
        return element(
                isUtc ? UTC_TIME : GENERALIZED_TIME,
                (isUtc ? UTC : GENERALIZED).format(utc).getBytes(StandardCharsets.US_ASCII));
    }

    /** An implicit context tag around bytes. */
    static byte[] tagged(int number, byte[] value) {
        return element(CONTEXT | number, value);
    }

    /** An explicit context tag around an element. */
    static byte[] explicit(int number, byte[] element) {
        return element(CONTEXT | CONSTRUCTED | number, element);
    }

    static byte[] concatenated(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    private static byte[] element(int tag, byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (content.length <= SHORT_LENGTH_MAX) {
            out.write(content.length);
        } else {
            byte[] length = BigInteger.valueOf(content.length).toByteArray();
            int zeros = length[0] == 0 ? 1 : 0;
            out.write(CONTEXT | (length.length - zeros));
            out.write(length, zeros, length.length - zeros);
        }
        out.writeBytes(content);
        return out.toByteArray();
    }

    private static void arc(ByteArrayOutputStream out, long value) {
        int groups = Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(value) + 6) / 7);
        for (int i = groups - 1; i >= 0; i--) {
            int group = (int) (value >>> (7 * i)) & 0x7f;
            out.write(i == 0 ? group : group | 0x80);
        }
    }
}
