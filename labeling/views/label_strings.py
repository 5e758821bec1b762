"""What the scripts of the labeling page say, translated. {name} is filled in by the script."""

from django.utils.translation import gettext as _


def label_strings() -> dict[str, str]:
    return {**_frame(), **_steps(), **_screens(), **_dialogs(), **_help(), **_calculator()}


def _frame() -> dict[str, str]:
    return {
        "saved": _("Saved"),
        "saving": _("Saving"),
        "unsaved": _("Not saved yet"),
        "unsent": _("{n} not sent"),
        "today": _("{n} today"),
        "screening_progress": _("Screening: {done} of {total}"),
        "submit": _("Submit"),
        "submit_error": _("Submit: step {n} is the first bad step"),
        "submit_solution": _("Submit: no bad step"),
        "submit_full": _("Submit: every step is rated"),
        "sending": _("Sending"),
        "wait_first_error": _("Rate step {n}, or find the first bad step"),
        "wait_full": _("Rate step {n}: every step needs a rating"),
        "sent": _("Sent."),
        "sent_later": _("Kept in this browser. It is sent when the connection is back."),
        "undo": _("Undo"),
        "reopened": _("Taken back. Correct it and submit it again."),
        "too_late": _("It can no longer be taken back."),
        "active": _("{minutes} min {seconds} s active"),
        "paused_clock": _("Clock stopped: you seem to be away"),
        "looking": _("Step {n} for {seconds} s"),
        "half_minute": _(
            "Looking at step {n} for {seconds} s. If it cannot be checked in half a minute, "
            "it is not explained well enough."
        ),
    }


def _steps() -> dict[str, str]:
    return {
        "problem": _("Problem"),
        "steps": _("Steps of the solution"),
        "step": _("Step {n} of {total}"),
        "great": _("Great"),
        "okay": _("Okay"),
        "bad": _("Bad"),
        "rated": _("Step {n}: {rating}"),
        "undone": _("Undone"),
        "nothing_to_undo": _("Nothing to undo"),
        "complete": _("Complete. Press Enter to submit."),
        "reasons": _("Why? (optional)"),
        "show_source": _("Source text of this step"),
        "answer": _("Answer:"),
        "guess": _("Current guess of the answer"),
        "no_guess": _("The answer is not known"),
        "dispute": _("I think this is wrong"),
        "disputed": _("Marked as wrong. Undo"),
        "drawing": _("Drawing (source only)"),
        "new_solution": _("New solution: {n} steps"),
    }


def _screens() -> dict[str, str]:
    return {
        "loading_title": _("Loading"),
        "offline_title": _("No connection"),
        "offline_text": _(
            "Your work is kept in this browser. It goes on by itself when the connection is back."
        ),
        "wait_title": _("Nothing for you right now"),
        "wait_detail": _("{n} in progress with others. The earliest may come free at {time}."),
        "wait_detail_no_time": _("{n} in progress with others."),
        "wait_again": _("This page looks again by itself."),
        "done_title": _("All done"),
        "paused_title": _("You are paused"),
        "failed_title": _("The screening is over"),
        "screening_over_title": _("You passed the screening"),
        "guidelines_title": _("First, the guidelines"),
        "hold_title": _("One moment"),
        "error_title": _("That did not work"),
        "to_result": _("See the result"),
        "to_guidelines": _("Read the guidelines"),
        "to_work": _("My work"),
        "go_on": _("Go on to the work"),
        "try_again": _("Try again"),
    }


def _dialogs() -> dict[str, str]:
    return {
        "cancel": _("Cancel"),
        "close": _("Close"),
        "reason_needed": _("Please say why, in a few words."),
        "give_up_title": _("Give up on this solution"),
        "give_up_text": _(
            "For a solution that you cannot judge. If the problem itself is broken, report a bad "
            "problem instead; a wrong rating can simply be changed."
        ),
        "give_up_yes": _("Give up"),
        "bad_problem_title": _("Report a bad problem"),
        "bad_problem_text": _(
            "For a problem that makes no sense, misses something, or has no single answer. "
            "A second report takes it out of the queue until the lead decides."
        ),
        "bad_problem_yes": _("Report"),
        "why": _("Why?"),
        "confirm_title": _("Is the solution right?"),
        "confirm_text": _(
            "You found no bad step, but the final answer differs from the current guess ({answer})."
        ),
        "confirm_wrong": _("The solution is right, the guess is wrong"),
        "confirm_same": _("Both answers mean the same"),
        "confirm_back": _("Let me look again"),
        "signed_out_title": _("Please sign in again"),
        "signed_out_text": _(
            "Your session is over. Everything is kept in this browser. "
            "Sign in on the page that opens (or open your sign-in link again), come back here, and go on."
        ),
        "signed_out_open": _("Sign in"),
        "signed_out_retry": _("I am signed in"),
        "stale_title": _("Two versions of this solution"),
        "stale_text": _("Another window saved a different version ({n} steps rated). Which one goes on?"),
        "stale_mine": _("This one ({n} steps rated)"),
        "stale_theirs": _("The other one"),
        "unsent_title": _("Not sent yet"),
        "unsent_none": _("Everything is sent and saved."),
        "unsent_submit": _("finished, waiting to be sent"),
        "unsent_draft": _("unfinished, saved in this browser only"),
        "unsent_now": _("Try now"),
    }


def _help() -> dict[str, str]:
    return {
        "help_title": _("Keys"),
        "help_note": _("Keys do nothing while you type in a field."),
        "help_great": _("great"),
        "help_okay": _("okay"),
        "help_bad": _("bad"),
        "help_down": _("next step"),
        "help_up": _("step before"),
        "help_unrated": _("first step without a rating"),
        "help_undo": _("undo; with nothing to undo, take back what was sent last"),
        "help_raw": _("source text of the step"),
        "help_dispute": _("the guess of the answer is wrong"),
        "help_give_up": _("give up (asks why)"),
        "help_bad_problem": _("bad problem (asks why)"),
        "help_submit": _("submit, when complete"),
        "help_help": _("this list"),
    }


def _calculator() -> dict[str, str]:
    return {
        "exact": _("exact"),
        "calc_unexpected": _("Only numbers, + - * / ^ % and parentheses"),
        "calc_unfinished": _("Something is missing at the end"),
        "calc_parenthesis": _("The parentheses do not match"),
        "calc_zero": _("Division by zero"),
        "calc_root": _("Only whole exponents"),
        "calc_large": _("Too large"),
        "calc_deep": _("Too many parentheses"),
        "calc_comma": _("Use commas only between thousands"),
        "calc_number": _("Not a number"),
    }
