// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib.jna;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The same function of libkvpool, which does nothing, reached in three ways: why the binding maps directly. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MappingBenchmark {
    private interface Mapped extends Library {
        int kv_abi_version();
    }

    private Mapped mapped;
    private MethodHandle foreign;

    @Setup
    @SuppressWarnings("restricted") // the build and the command line allow native access
    public void load() {
        JnaKvLibrary.load();
        mapped = Native.load("kvpool", Mapped.class);
        MemorySegment address = MemorySegment.ofAddress(
                Pointer.nativeValue(NativeLibrary.getInstance("kvpool").getFunction("kv_abi_version")));
        foreign = Linker.nativeLinker().downcallHandle(address, FunctionDescriptor.of(JAVA_INT));
    }

    @Benchmark
    public int direct() {
        return KvFunctions.kv_abi_version();
    }

    @Benchmark
    public int byInterface() {
        return mapped.kv_abi_version();
    }

    /** Java's own way, without JNA. */
    @Benchmark
    public int foreign() throws Throwable {
        return (int) foreign.invokeExact();
    }
}
