// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;

/** Amounts of bytes as Kubernetes writes them. */
public final class ByteAmount {
    private static final List<String> UNITS = List.of("", "Ki", "Mi", "Gi", "Ti", "Pi");
    private static final long STEP = 1024;

    /** Below this a smaller unit is used, so that rounding costs less than a tenth. */
    private static final long SHORTEST = 10;

    private ByteAmount() {}

    /** Bytes of a quantity, rounded down; larger ones than a long can hold become the largest long. */
    public static long bytes(Quantity quantity) {
        BigDecimal amount = quantity.getNumericalAmount().setScale(0, RoundingMode.FLOOR);
        return amount.min(BigDecimal.valueOf(Long.MAX_VALUE)).longValue();
    }

    /** The same amount in the largest unit that divides it, which is how the API server stores it. */
    public static Quantity exact(long bytes) {
        long amount = bytes;
        int unit = 0;
        while (amount != 0 && amount % STEP == 0 && unit < UNITS.size() - 1) {
            amount /= STEP;
            unit++;
        }
        return new Quantity(Long.toString(amount), UNITS.get(unit));
    }

    /** The amount in a sentence: two digits and a unit, so that the sentence stays while little changes. */
    public static Quantity coarse(long bytes) {
        Quantity rounded = rounded(bytes);
        long amount = Rounding.twoDigits(Long.parseLong(rounded.getAmount()));
        return new Quantity(Long.toString(amount), rounded.getFormat());
    }

    /** The amount for people: exact when that is short, else rounded down to two or more digits. */
    public static Quantity rounded(long bytes) {
        Quantity exact = exact(bytes);
        if (exact.getAmount().length() <= 2) {
            return exact;
        }
        long amount = bytes;
        int unit = 0;
        while (amount >= SHORTEST * STEP && unit < UNITS.size() - 1) {
            amount /= STEP;
            unit++;
        }
        return new Quantity(Long.toString(amount), UNITS.get(unit));
    }
}
