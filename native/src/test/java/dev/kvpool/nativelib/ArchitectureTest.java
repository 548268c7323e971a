// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Who may use what in this module. */
class ArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.kvpool.nativelib");

    @Test
    void onlyTheJnaPackageKnowsJna() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.kvpool.nativelib.jna")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("com.sun.jna..")
                .check(CLASSES);
    }

    @Test
    void theBindingKnowsNothingOfTheWire() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.kvpool.wire..")
                .check(CLASSES);
    }
}
