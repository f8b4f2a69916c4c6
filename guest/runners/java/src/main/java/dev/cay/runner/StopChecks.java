package dev.cay.runner;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.reflect.AccessFlag;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Puts a call of [Stop#check] at the start of every method and before every jump back: since threads cannot be stopped
/// from outside any more, a busy loop has to ask.
final class StopChecks {
    private static final ClassDesc STOP = ClassDesc.of(Stop.class.getName());

    /// Cells' classes by name: where two of them meet in a variable, the verifier's tables need their common ancestor.
    private final Map<ClassDesc, ClassHierarchyResolver.ClassHierarchyInfo> known = new HashMap<>();

    private final ClassFile classFile =
            ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(((ClassHierarchyResolver) known::get)
                    .orElse(ClassHierarchyResolver.ofClassLoading(ClassLoader.getSystemClassLoader()))));

    void learn(byte[] bytes) {
        ClassModel model = classFile.parse(bytes);
        boolean isInterface = model.flags().has(AccessFlag.INTERFACE);
        var ancestor = model.superclass().map(entry -> entry.asSymbol()).orElse(ConstantDescs.CD_Object);
        known.put(
                model.thisClass().asSymbol(),
                isInterface
                        ? ClassHierarchyResolver.ClassHierarchyInfo.ofInterface()
                        : ClassHierarchyResolver.ClassHierarchyInfo.ofClass(ancestor));
    }

    byte[] weave(byte[] bytes) {
        return classFile.transformClass(
                classFile.parse(bytes), ClassTransform.transformingMethodBodies(CodeTransform.ofStateful(Weaver::new)));
    }

    private static final class Weaver implements CodeTransform {
        private final Set<Label> passed = new HashSet<>();

        @Override
        public void atStart(CodeBuilder code) {
            check(code);
        }

        @Override
        public void accept(CodeBuilder code, CodeElement element) {
            if (element instanceof LabelTarget target) {
                passed.add(target.label());
            }
            if (element instanceof BranchInstruction branch && passed.contains(branch.target())) {
                check(code);
            }
            code.with(element);
        }

        private static void check(CodeBuilder code) {
            code.invokestatic(STOP, "check", ConstantDescs.MTD_void);
        }
    }
}
