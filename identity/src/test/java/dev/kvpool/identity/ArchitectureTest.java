// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Who may use what in this module. */
class ArchitectureTest {
    private static final String ROOT = "dev.kvpool.identity.";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.kvpool.identity");

    @Test
    void nothingButTheJdkIsUsed() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("dev.kvpool.identity..", "java..", "javax.net.ssl..")
                .check(CLASSES);
    }

    @Test
    void packagesDependOneWay() {
        never("text", "name..", "certificate..", "peer..");
        never("name", "certificate..", "peer..");
        never("certificate", "peer..");
    }

    @Test
    void filesAreReadElsewhere() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.nio.file..")
                .check(CLASSES);
    }

    private static void never(String from, String... to) {
        for (String each : to) {
            noClasses()
                    .that()
                    .resideInAPackage(ROOT + from)
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage(ROOT + each)
                    .check(CLASSES);
        }
    }
}
