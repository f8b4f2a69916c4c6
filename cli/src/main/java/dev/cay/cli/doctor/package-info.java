/// `cay doctor`: what this host lacks, and the command that fixes it. Each {@link dev.cay.cli.doctor.Check} looks at
/// one subject and changes nothing; {@link dev.cay.cli.doctor.DoctorCommand} lists them. What other rooms know about a
/// host (say, foreign firewalls) joins as one more check.
@NullMarked
package dev.cay.cli.doctor;

import org.jspecify.annotations.NullMarked;
