# The caller's side of a call of `edit` or `write`, in the place of the stub where perl is there: one process that starts as fast
# as bash does, looks at a file, and replaces it. What is not plain goes to the stub: all but a regular file of one name, no link,
# with the caller's owner and group and no extended attributes, so that the mode is all there is to keep. Descriptor 46 is `ask`.
# `$0` lies beside the stub; the numbers are those of the system calls `llistxattr` and `faccessat`.
my ($slot, $command, $locale, $attributes) = @ARGV;
my ($directory) = $0 =~ m{(.*)/}s;
my ($listing, $access) = (@numbers@);
my ($buffer, $failed, $temporary) = ('', 0, undef);
my ($ask, $answer);
# Goes on as the stub, with the words that were read already.
sub hand {
  exec '/bin/bash', '--norc', '--noprofile', '-p', "$directory/stub", $slot, $command, $locale, $attributes, @_;
  exit 1;
}
# Kept by the stub; what is opened from then on is not.
$^F = 46;
open $ask, '>&=', 46 or exit 1;
$^F = 2;
open $answer, '<', "$directory/slot-$slot-answer" or exit 1;
if (fileno $answer < 3 || 8 != length pack 'p', '' or $< != $> || $( != $)) { close $answer; hand() }
sub more {
  my $size = sysread $answer, $buffer, 65536, length $buffer;
  $size or defined $size || $! != 4 and exit 1;
}
sub word {
  my $at;
  more() while ($at = index $buffer, "\0") < 0;
  my $word = substr $buffer, 0, $at;
  substr($buffer, 0, $at + 1) = '';
  $word;
}
sub rest {
  more() while length $buffer && "\0" ne substr $buffer, -1;
  my @words = split /\0/, $buffer, -1;
  pop @words;
  @words;
}
# Returns how much was written.
sub put {
  my ($to, $text) = @_;
  my $at = 0;
  while ($at < length $text) {
    my $size = syswrite $to, $text, length($text) - $at, $at;
    if (defined $size) { $at += $size } elsif ($! != 4) { last }
  }
  $at;
}
sub bare { my $size = syscall $listing, $_[0], 0, 0; $size == 0 || $size < 0 && $! == 95 }
# The directory and the name of a path that may be plain.
sub split_path {
  my ($directory, $name) = $_[0] =~ m{^(.*/)?([^/]+)\z}s or return;
  return if $_[0] =~ m{^/proc/|\btrace_pipe\z} || -l $_[0];
  (defined $directory ? $directory : './', $name);
}
# Tells by what a file can be known: by its directory and its name there.
sub identity {
  my ($directory, $name) = split_path($_[0]) or return;
  my @place = stat $directory or return;
  my @file = stat $_[0];
  return if @file && ($file[3] != 1 || ($file[2] & 0170000) != 0100000);
  "ok\0$place[0]:$place[1]/$name/\0";
}
sub content {
  sysopen my $file, $_[0], 0 or return "ok\0\0";
  my ($text, $size) = ('', 1);
  while ($size && length $text < 16000) { $size = sysread $file, $text, 16000 - length $text, length $text }
  defined $size && $size == 0 && index($text, "\0") < 0 ? "text\0$text\0" : "ok\0\0";
}
sub gone {
  unlink $temporary if defined $temporary;
  $SIG{$_[0]} = 'DEFAULT';
  kill $_[0], $$;
}
for (qw(HUP INT TERM)) { $SIG{$_} = \&gone unless ($SIG{$_} || '') eq 'IGNORE' }
# Where something is in the way, all is as it was.
sub replace {
  my ($path, $bytes) = @_;
  my ($directory, $name) = split_path($path) or return;
  my @old = lstat $path;
  if (@old) {
    return if ($old[2] & 0170000) != 0100000 || $old[3] != 1 || syscall($access, -100, $path, 2) || !bare($path);
  } else {
    return unless -d $directory;
  }
  my $new = $directory . '.' . substr($name, 0, 100) . '.' . int(rand 1e9) . $$;
  # Until it has the old one's mode, nobody else may read it.
  $temporary = $new;
  my $file;
  unless (sysopen $file, $new, 0301, @old ? 0600 : 0666) { undef $temporary; return }
  local $SIG{XFSZ} = 'IGNORE';
  my $done = put($file, $bytes) == length $bytes && close $file;
  if ($done && @old) {
    my @new = lstat $new;
    $done = @new && "@old[3 .. 5]" eq "@new[3 .. 5]" && bare($new) && chmod($old[2] & 07777, $new);
  }
  $done &&= rename $new, $path;
  unlink $new unless $done;
  undef $temporary;
  $done;
}
while (1) {
  my $what = word();
  if ($what eq 'say') {
    my ($to, $text) = (word(), word());
    my $size = put($to == 1 ? \*STDOUT : \*STDERR, $text);
    if ($size < length $text) { if ($size) { $failed = 1 } else { hand($what, $to, $text, rest()) } }
  } elsif ($what eq 'look') {
    my $path = word();
    my $said = identity($path);
    hand($what, $path, rest()) unless defined $said;
    put($ask, $said . content($path));
  } elsif ($what eq 'identify') {
    my ($count, $path) = (word(), word());
    my $said = $count == 1 ? identity($path) : undef;
    hand($what, $count, $path, rest()) unless defined $said;
    put($ask, $said);
  } elsif ($what eq 'begin') {
    my ($path, $mode) = (word(), word());
    # A content that goes with its path is there already.
    hand($what, $path, $mode, rest()) unless $mode eq '' && $buffer =~ /^put\0/;
    word();
    my $count = word();
    more() while length $buffer < $count;
    my $bytes = substr $buffer, 0, $count, '';
    my $end = word();
    hand($what, $path, $mode, 'put', $count, $bytes, $end) unless $end eq 'commit' && replace($path, $bytes);
    put($ask, "ok\0\0" x 3);
  } elsif ($what eq 'discard') {
    put($ask, "ok\0\0");
  } elsif ($what eq 'exit') {
    my $code = word();
    exit($code || $failed);
  } else {
    hand($what, rest());
  }
}
